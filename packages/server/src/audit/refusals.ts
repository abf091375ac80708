import type { AuditAction } from '@bothost/contract';
import type { Logger } from 'pino';
import type { Database } from '../store/tables.ts';
import { appendAudit } from './append.ts';
import type { Actor, NewAuditEvent } from './chain.ts';

export type Refusal = {
  readonly organizationId: string;
  readonly actor: Actor;
  readonly action: AuditAction;
  readonly object: string | null;
  readonly keys: readonly string[];
  /** The error reason, for example `secret-set-not-found`. */
  readonly result: string;
};

export type RefusalLog = {
  /** Stores the refusals that `find` returns. Above the rate limit, only counts them. Never rejects. */
  readonly record: (find: () => readonly Refusal[] | Promise<readonly Refusal[]>) => Promise<void>;
  /**
   * Waits until all refusals are recorded. Then, for each organization with refusals above the rate limit, stores one `audit.left-out` entry with the number of refusals
   * that were only counted.
   */
  readonly recordLeftOut: () => Promise<void>;
};

const notRecorded = 'refused request not recorded in the audit log';

/** Records refused requests, each in its own transaction. `limit` limits their rate, so that they do not fill the disk. */
export function createRefusalLog(
  context: { readonly db: Database; readonly now: () => Date; readonly logger: Pick<Logger, 'warn'> },
  limit: { readonly take: (organizationId: string) => boolean },
): RefusalLog {
  const leftOut = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const emptyFields = { region: null, revisionBefore: null, revisionAfter: null };
  const append = (
    organizationId: string,
    event: Pick<NewAuditEvent, 'actor' | 'action' | 'object' | 'keys' | 'result' | 'count'>,
  ) =>
    context.db
      .transaction()
      .execute((db) => appendAudit(db, organizationId, { ...emptyFields, ...event, at: context.now() }));

  async function appendLeftOut(organizationId: string): Promise<void> {
    const count = leftOut.get(organizationId) ?? 0;
    if (count === 0) return;
    leftOut.delete(organizationId);
    const event = {
      actor: { keyId: null },
      action: 'audit.left-out',
      object: null,
      keys: [],
      result: 'too-many-refusals',
    } as const;
    try {
      await append(organizationId, { ...event, count });
    } catch (error) {
      leftOut.set(organizationId, count + (leftOut.get(organizationId) ?? 0));
      throw error;
    }
  }

  async function store({ organizationId, ...refusal }: Refusal): Promise<void> {
    if (!limit.take(organizationId)) {
      leftOut.set(organizationId, 1 + (leftOut.get(organizationId) ?? 0));
      return;
    }
    try {
      await appendLeftOut(organizationId);
      await append(organizationId, { ...refusal, count: 1 });
    } catch (error) {
      const { action, result, actor } = refusal;
      const fields = { organizationId, action, result, requestId: actor.requestId, err: error };
      context.logger.warn(fields, notRecorded);
    }
  }

  async function findAndStore(find: Parameters<RefusalLog['record']>[0]): Promise<void> {
    try {
      for (const refusal of await find()) await store(refusal);
    } catch (error) {
      context.logger.warn({ err: error }, notRecorded);
    }
  }

  return {
    record: (find) => {
      const work = findAndStore(find).finally(() => running.delete(work));
      running.add(work);
      return work;
    },
    recordLeftOut: async () => {
      await Promise.all(running);
      for (const organizationId of [...leftOut.keys()]) await appendLeftOut(organizationId);
    },
  };
}
