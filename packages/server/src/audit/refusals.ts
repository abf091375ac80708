import type { Logger } from 'pino';
import type { Database } from '../store/tables.ts';
import { appendAudit } from './append.ts';
import type { Actor } from './chain.ts';

/** A request that was refused, as the log of the organization that asked tells it. */
export type Refusal = {
  readonly organizationId: string;
  readonly actor: Actor;
  readonly action: string;
  readonly object: string | null;
  readonly keys: readonly string[];
  /** The reason, as in `secret-set-not-found`. */
  readonly result: string;
};

export type RefusalLog = {
  /** Writes it before the answer goes out, unless there are too many: those are counted. Never rejects. */
  readonly tell: (refusal: Refusal) => Promise<void>;
  /** Writes how many were left out, an entry for each organization. */
  readonly tellLeftOut: () => Promise<void>;
};

/**
 * Tells refusals to the logs of their organizations, each in a transaction of its own. `limit` bounds the entries of each
 * organization, so that nobody fills the disk by being refused.
 */
export function createRefusalLog(
  context: { readonly db: Database; readonly now: () => Date; readonly logger: Pick<Logger, 'warn'> },
  limit: { readonly take: (of: string) => boolean },
): RefusalLog {
  const leftOut = new Map<string, number>();
  const nothing = { region: null, revisionBefore: null, revisionAfter: null };
  const append = (organizationId: string, event: Omit<Refusal, 'organizationId'> & { count: number }) =>
    context.db
      .transaction()
      .execute((db) => appendAudit(db, organizationId, { ...nothing, ...event, at: context.now() }));

  async function tellLeftOutOf(organizationId: string): Promise<void> {
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
    tell: async ({ organizationId, ...refusal }) => {
      if (!limit.take(organizationId)) {
        leftOut.set(organizationId, 1 + (leftOut.get(organizationId) ?? 0));
        return;
      }
      try {
        await tellLeftOutOf(organizationId);
        await append(organizationId, { ...refusal, count: 1 });
      } catch (error) {
        const { action, result, actor } = refusal;
        const fields = { organizationId, action, result, requestId: actor.requestId, err: error };
        context.logger.warn(fields, 'a refused request could not be written to the audit log');
      }
    },
    tellLeftOut: async () => {
      for (const organizationId of [...leftOut.keys()]) await tellLeftOutOf(organizationId);
    },
  };
}
