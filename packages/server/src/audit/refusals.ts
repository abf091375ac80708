import type { Logger } from 'pino';
import type { Database } from '../store/tables.ts';
import { appendAudit } from './append.ts';
import type { Actor } from './chain.ts';

export type Refusal = {
  readonly organizationId: string;
  readonly actor: Actor;
  readonly action: string;
  readonly object: string | null;
  readonly keys: readonly string[];
  /** The error reason, for example `secret-set-not-found`. */
  readonly result: string;
};

export type RefusalLog = {
  /** Stores a refusal. Above the rate limit, only counts the refusal. Never rejects. */
  readonly record: (refusal: Refusal) => Promise<void>;
  /**
   * For each organization with refusals above the rate limit, stores one `audit.left-out` entry with the number of refusals
   * that were only counted.
   */
  readonly recordLeftOut: () => Promise<void>;
};

/**
 * Records refused requests in the audit log, each in its own transaction. `limit` limits the rate of these entries, so that they
 * do not fill the disk.
 */
export function createRefusalLog(
  context: { readonly db: Database; readonly now: () => Date; readonly logger: Pick<Logger, 'warn'> },
  limit: { readonly take: (organizationId: string) => boolean },
): RefusalLog {
  const leftOut = new Map<string, number>();
  const emptyFields = { region: null, revisionBefore: null, revisionAfter: null };
  const append = (organizationId: string, event: Omit<Refusal, 'organizationId'> & { count: number }) =>
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
    };
    try {
      await append(organizationId, { ...event, count });
    } catch (error) {
      leftOut.set(organizationId, count + (leftOut.get(organizationId) ?? 0));
      throw error;
    }
  }

  return {
    record: async ({ organizationId, ...refusal }) => {
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
        context.logger.warn(fields, 'refused request not recorded in the audit log');
      }
    },
    recordLeftOut: async () => {
      for (const organizationId of [...leftOut.keys()]) await appendLeftOut(organizationId);
    },
  };
}
