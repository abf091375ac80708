import type { Logger } from 'pino';
import type { Database } from '../store/tables.ts';
import { dueDeliveries, endDelivery, postponeDelivery } from './delivery-rows.ts';
import { decryptRevision } from './encrypted-values.ts';
import { findSetById } from './rows.ts';
import { inSnapshot } from './snapshot.ts';
import { DamagedError } from './vault/damaged.ts';
import type { Keyring } from './vault/keyring.ts';
import { RootKeyMissing } from './vault/root-key.ts';

type Context = {
  readonly db: Database;
  readonly now: () => Date;
  readonly keyring: Keyring;
  readonly host: { readonly id: string; readonly region: string };
  readonly logger: Pick<Logger, 'warn'>;
};

const batch = 50;
const firstRetrySeconds = 1;
const maxRetrySeconds = 60;
/** Half a minute; after that, the delivery is shown as failed while it is retried. */
const attemptsBeforeFailure = 6;

/** Shown to the owner of the set. */
const problems = {
  damaged:
    'What is stored of this revision does not match what was written. Delete the set and set it again, and inform the operator.',
  rootKeyMissing:
    'This revision cannot be decrypted, because a root key of the service is missing. Ask the operator to put it back; the set then becomes ready automatically.',
  unknown:
    'This revision could not be delivered. The service keeps trying; if it stays like this, ask the operator, whose log has the reason.',
} as const;

/**
 * Carries out the due deliveries of this host's region once; returns how many. A revision is ready if all of its values decrypt
 * here. Nothing is copied for the process driver, because an instance gets its values from the database when it starts. A
 * damaged revision fails for good. Other errors, such as a missing root key, are retried, at least once a minute, even after the
 * delivery is shown as failed.
 *
 * Idempotent. A late delivery of an old revision does not change the state of a newer one.
 */
export async function deliverSecrets(context: Context): Promise<number> {
  const now = context.now();
  const when = { now, latest: later(now, maxRetrySeconds) };
  const due = await dueDeliveries(context.db, context.host.region, when, batch);
  for (const delivery of due) {
    const of = { setId: delivery.set_id, revision: delivery.revision };
    const end = { hostId: context.host.id, at: context.now() };
    try {
      await requireDecryptable(context, delivery.organization_id, of);
      await endDelivery(context.db, of, { ...end, state: 'ready', error: null, again: null });
    } catch (error) {
      const fields = { ...of, attempts: delivery.attempts, err: error };
      if (error instanceof DamagedError) {
        context.logger.warn(fields, 'secret set damaged');
        await endDelivery(context.db, of, { ...end, state: 'failed', error: problems.damaged, again: null });
        continue;
      }
      const again = later(context.now(), Math.min(firstRetrySeconds * 2 ** delivery.attempts, maxRetrySeconds));
      if (delivery.attempts + 1 < attemptsBeforeFailure) {
        await postponeDelivery(context.db, of, again);
        continue;
      }
      context.logger.warn(fields, 'secret delivery failed; it is retried');
      const problem = error instanceof RootKeyMissing ? problems.rootKeyMissing : problems.unknown;
      await endDelivery(context.db, of, { ...end, state: 'failed', error: problem, again });
    }
  }
  return due.length;
}

function later(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}

async function requireDecryptable(
  context: Context,
  organizationId: string,
  of: { setId: string; revision: number },
): Promise<void> {
  const values = await inSnapshot(context.db, async (db) => {
    const set = await findSetById(db, organizationId, of.setId);
    // Null if the set was deleted meanwhile, and its delivery with it.
    return set === undefined ? null : decryptRevision({ ...context, db }, set, of.revision);
  });
  for (const value of values?.values() ?? []) value.fill(0);
}
