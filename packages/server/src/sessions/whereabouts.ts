import type { Database } from '../store/tables.ts';
import { isUuid } from '../uuid.ts';
import { addressRow } from './rows.ts';

export type Address = { readonly host: string; readonly port: number };

/** What the proxy needs to know of a session that has not ended. */
export type Whereabouts = {
  readonly sessionId: string;
  readonly organizationId: string;
  readonly agentName: string;
  instanceId: string | null;
  /** Null until the instance is ready. */
  address: Address | null;
};

/**
 * Where the sessions of this server run, in memory, so that the proxy asks the database only for sessions that it does not
 * know. The database stays the arbiter: an entry is made after its row and removed when the row ends.
 */
export type Directory = {
  readonly known: (sessionId: string) => Whereabouts | undefined;
  /** Like `known`, but asks the database for one that is not. Undefined: there is no such open session. */
  readonly find: (sessionId: string) => Promise<Whereabouts | undefined>;
  readonly expect: (entry: Omit<Whereabouts, 'address'> & { address?: Address | null }) => void;
  readonly ready: (sessionId: string, address: Address) => void;
  readonly gone: (sessionId: string) => void;
  /** Resolves with the address once the instance is ready; null when the session ends before, or at the abort. */
  readonly whenReady: (sessionId: string, signal: AbortSignal) => Promise<Address | null>;
  /** The sessions that have an instance that answers. */
  readonly running: () => { sessionId: string; instanceId: string }[];
};

export function createDirectory(context: { db: Database }): Directory {
  const entries = new Map<string, Whereabouts>();
  const waiting = new Map<string, Set<(address: Address | null) => void>>();

  function settle(sessionId: string, address: Address | null) {
    const waiters = waiting.get(sessionId);
    waiting.delete(sessionId);
    for (const resolve of waiters ?? []) resolve(address);
  }

  function expect(entry: Omit<Whereabouts, 'address'> & { address?: Address | null }) {
    const before = entries.get(entry.sessionId);
    entries.set(entry.sessionId, { ...entry, address: entry.address ?? before?.address ?? null });
    if (entry.address) settle(entry.sessionId, entry.address);
  }

  function ready(sessionId: string, address: Address) {
    const entry = entries.get(sessionId);
    if (entry !== undefined) entry.address = address;
    settle(sessionId, address);
  }

  function gone(sessionId: string) {
    entries.delete(sessionId);
    settle(sessionId, null);
  }

  async function find(sessionId: string): Promise<Whereabouts | undefined> {
    const key = sessionId.toLowerCase();
    const known = entries.get(key);
    if (known !== undefined || !isUuid(key)) return known;
    const row = await addressRow(context.db, key);
    if (row === undefined) return undefined;
    const { host, port, instance_state: state } = row;
    const address = state === 'ready' && host !== null && port !== null ? { host, port } : null;
    const fields = { organizationId: row.organization_id, agentName: row.agent_name, instanceId: row.instance_id };
    // Not remembered: only what this server attends is told to be gone at its end.
    return entries.get(key) ?? { sessionId: key, ...fields, address };
  }

  function whenReady(sessionId: string, signal: AbortSignal): Promise<Address | null> {
    const address = entries.get(sessionId)?.address;
    if (address) return Promise.resolve(address);
    if (signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const waiters = waiting.get(sessionId) ?? new Set();
      waiting.set(sessionId, waiters);
      const done = (result: Address | null) => {
        signal.removeEventListener('abort', onAbort);
        resolve(result);
      };
      const onAbort = () => {
        waiters.delete(done);
        done(null);
      };
      waiters.add(done);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  const running = () =>
    [...entries.values()].flatMap(({ sessionId, instanceId, address }) =>
      address === null || instanceId === null ? [] : [{ sessionId, instanceId }],
    );

  return { known: (sessionId) => entries.get(sessionId.toLowerCase()), find, expect, ready, gone, whenReady, running };
}
