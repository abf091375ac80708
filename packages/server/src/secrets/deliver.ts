import type { Logger } from 'pino';
import { readSnapshot } from '../store/snapshot.ts';
import type { StoreContext } from '../store/store-context.ts';
import { listDueDeliveries, postponeDelivery, recordDeliveryResult } from './delivery-rows.ts';
import { decryptRevision } from './encrypted-values.ts';
import { findSecretSetById } from './rows.ts';
import { DamagedDataError } from './vault/damaged-data-error.ts';
import type { Keyring } from './vault/keyring.ts';
import { RootKeyMissingError } from './vault/root-key.ts';

type Context = Pick<StoreContext, 'db' | 'now'> & {
  readonly keyring: Keyring;
  readonly host: { readonly id: string; readonly region: string };
  readonly logger: Pick<Logger, 'warn'>;
};

const batch = 50;
const firstRetrySeconds = 1;
const maxRetrySeconds = 60;
/** Number of failed attempts, over about half a minute, after which a delivery is shown as failed. It is still retried. */
const attemptsBeforeFailure = 6;

const ownerMessages = {
  damaged: 'The stored data of this revision is damaged. Delete the set, set it again, and inform the operator.',
  rootKeyMissing:
    'This revision cannot be decrypted, because a root key of the service is missing. Ask the operator to put it back; the set then becomes ready automatically.',
  unknown:
    'This revision could not be delivered. The service keeps trying; if it still fails, ask the operator, whose log has the reason.',
} as const;

/**
 * Carries out the due deliveries of this server's region once, and returns their number. A delivery checks that this server can
 * decrypt all values of a secret set revision, and then marks the revision as ready. A delivery copies no values, because the
 * values are read from the database at the start of an instance. The delivery of a damaged revision fails permanently. After
 * any other error, such as a missing root key, a delivery is retried at least once a minute.
 *
 * Deliveries are idempotent. A late delivery of an old revision does not change the state of a newer one.
 */
export async function deliverSecrets(context: Context): Promise<number> {
  const now = context.now();
  const when = { now, latest: later(now, maxRetrySeconds) };
  const due = await listDueDeliveries(context.db, context.host.region, when, batch);
  for (const delivery of due) {
    const of = { setId: delivery.set_id, revision: delivery.revision };
    const end = { hostId: context.host.id, at: context.now() };
    try {
      await requireDecryptable(context, delivery.organization_id, of);
      await recordDeliveryResult(context.db, of, { ...end, state: 'ready', error: null, again: null });
    } catch (error) {
      const fields = { ...of, attempts: delivery.attempts, err: error };
      if (error instanceof DamagedDataError) {
        context.logger.warn(fields, 'secret set damaged');
        await recordDeliveryResult(context.db, of, {
          ...end,
          state: 'failed',
          error: ownerMessages.damaged,
          again: null,
        });
        continue;
      }
      const again = later(context.now(), Math.min(firstRetrySeconds * 2 ** delivery.attempts, maxRetrySeconds));
      if (delivery.attempts + 1 < attemptsBeforeFailure) {
        await postponeDelivery(context.db, of, again);
        continue;
      }
      context.logger.warn(fields, 'secret delivery failed, retrying');
      const problem = error instanceof RootKeyMissingError ? ownerMessages.rootKeyMissing : ownerMessages.unknown;
      await recordDeliveryResult(context.db, of, { ...end, state: 'failed', error: problem, again });
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
  const values = await readSnapshot(context.db, async (db) => {
    const set = await findSecretSetById(db, organizationId, of.setId);
    return set === undefined ? null : decryptRevision({ ...context, db }, set, of.revision);
  });
  for (const value of values?.values() ?? []) value.fill(0);
}
