import { createApiError, resourceNamePattern } from '@bothost/contract';
import type { BotAddress } from '../instances/address.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { findSessionRegionAndHost } from './rows.ts';

/** An open session, with the data that is needed to forward requests to its bot. */
export type SessionAddressEntry = {
  readonly sessionId: string;
  readonly organizationId: string;
  readonly agentName: string;
  readonly instanceId: string | null;
  /** The address of the session's bot. Null until the bot's instance is ready, and if the session is not in memory. */
  readonly address: BotAddress | null;
  /** Whether the bot has accepted the session, so that requests may be forwarded to the bot. */
  readonly open: boolean;
};

/**
 * In-memory registry of the open sessions of this server. Only addresses in this registry may be used, because an
 * address in the database may belong to another bot by now. An entry is added after the session's row, and removed when
 * the instance exits or the session's row is marked as ended.
 */
export type SessionAddressRegistry = {
  readonly known: (sessionId: string) => SessionAddressEntry | undefined;
  /**
   * Finds an open session of this organization and agent. If the session is not in memory, for example because this
   * server has not adopted it yet, queries the database and returns no address. Undefined if the session does not exist.
   *
   * @throws failure `session-elsewhere` if another server's host runs the session, because that host's addresses are
   * not reachable from here
   */
  readonly find: (
    session: Pick<SessionAddressEntry, 'sessionId' | 'organizationId' | 'agentName'>,
  ) => Promise<SessionAddressEntry | undefined>;
  readonly expect: (entry: Omit<SessionAddressEntry, 'open'>) => void;
  /** Stores the address of a session's instance, which is ready now. */
  readonly ready: (sessionId: string, address: BotAddress) => void;
  /** Marks a session as accepted by its bot. */
  readonly opened: (sessionId: string) => void;
  /**
   * Removes the sessions of an exited instance that have its address, so that it is no longer used. Pending calls of `whenReady` and
   * `whenOpen` do not resolve until the session has another instance, `ended` is called or their signal aborts.
   */
  readonly instanceExited: (instanceId: string) => void;
  readonly ended: (sessionId: string) => void;
  /**
   * Calls the listener once, when the instance of the session has exited or the session has ended. Calls it at once if the registry
   * does not contain the session. Returns a function that removes the listener.
   */
  readonly onUnreachable: (sessionId: string, listener: () => void) => () => void;
  /** Resolves with the address of the session's instance once it is ready; null if the session ends or the signal aborts. */
  readonly whenReady: (sessionId: string, signal: AbortSignal) => Promise<BotAddress | null>;
  /** The instance's address once the bot has accepted the session; null if it ends or the signal aborts. */
  readonly whenOpen: (sessionId: string, signal: AbortSignal) => Promise<BotAddress | null>;
};

export function createSessionAddressRegistry(context: {
  db: Database;
  host: { readonly id: string; readonly region: string };
}): SessionAddressRegistry {
  const entries = new Map<string, SessionAddressEntry>();
  const waiting = new Map<string, Set<(hasEnded: boolean) => void>>();
  const listeners = new Map<string, Set<() => void>>();

  function change(entry: SessionAddressEntry) {
    entries.set(entry.sessionId, entry);
    wake(entry.sessionId);
  }

  function remove(sessionId: string) {
    entries.delete(sessionId);
    const called = listeners.get(sessionId) ?? [];
    listeners.delete(sessionId);
    for (const listener of called) listener();
  }

  function wake(sessionId: string, hasEnded = false) {
    for (const check of waiting.get(sessionId) ?? []) check(hasEnded);
  }

  function update(sessionId: string, fields: Partial<Pick<SessionAddressEntry, 'address' | 'open'>>) {
    const entry = entries.get(sessionId);
    if (entry !== undefined) change({ ...entry, ...fields });
  }

  const find: SessionAddressRegistry['find'] = async (session) => {
    const sessionId = session.sessionId.toLowerCase();
    // Do not query for an invalid name: it may contain a NUL character, which PostgreSQL rejects.
    if (!isUuid(sessionId) || !resourceNamePattern.test(session.agentName)) return undefined;
    const row = await findSessionRegionAndHost(context.db, { ...session, sessionId });
    if (row === undefined) return undefined;
    const isOtherHost = row.host_id !== null && row.host_id !== context.host.id;
    if (row.region !== context.host.region || isOtherHost) throw elsewhere(row.region);
    // Do not cache the session: this server learns only of the ends of sessions that it owns, so the entry would never be
    // removed.
    return entries.get(sessionId) ?? { ...session, sessionId, instanceId: row.instance_id, address: null, open: false };
  };

  /**
   * Calls `answer` with the session's entry, immediately and after each change of the entry, until `answer` returns an address.
   * Resolves with this address, or with null when the session is removed or the signal aborts.
   */
  function wait(
    sessionId: string,
    signal: AbortSignal,
    answer: (entry: SessionAddressEntry) => BotAddress | null,
  ): Promise<BotAddress | null> {
    return new Promise((resolve) => {
      const checks = waiting.get(sessionId) ?? new Set();
      waiting.set(sessionId, checks);
      const check = (hasEnded: boolean) => {
        const entry = entries.get(sessionId);
        const address = entry === undefined ? null : answer(entry);
        if (address === null && !hasEnded && !signal.aborted) return;
        checks.delete(check);
        if (checks.size === 0 && waiting.get(sessionId) === checks) waiting.delete(sessionId);
        signal.removeEventListener('abort', onAbort);
        resolve(address);
      };
      const onAbort = () => check(false);
      checks.add(check);
      signal.addEventListener('abort', onAbort);
      check(false);
    });
  }

  return {
    known: (sessionId) => entries.get(sessionId.toLowerCase()),
    find,
    expect: (entry) => change({ ...entry, open: false }),
    ready: (sessionId, address) => update(sessionId, { address }),
    opened: (sessionId) => update(sessionId, { open: true }),
    instanceExited: (instanceId) => {
      for (const entry of entries.values())
        if (entry.instanceId === instanceId && entry.address !== null) remove(entry.sessionId);
    },
    ended: (sessionId) => {
      remove(sessionId);
      wake(sessionId, true);
    },
    onUnreachable: (session, listener) => {
      const sessionId = session.toLowerCase();
      const added = listeners.get(sessionId) ?? new Set();
      if (!entries.has(sessionId)) listener();
      else listeners.set(sessionId, added.add(listener));
      return () => {
        added.delete(listener);
        if (added.size === 0 && listeners.get(sessionId) === added) listeners.delete(sessionId);
      };
    },
    whenReady: (sessionId, signal) => wait(sessionId, signal, ({ address }) => address),
    whenOpen: (sessionId, signal) => wait(sessionId, signal, ({ address, open }) => (open ? address : null)),
  };
}

function elsewhere(region: string) {
  const message = `Another server runs this session. Send the request to the server of region ${region}.`;
  return createApiError('session-elsewhere', { message });
}
