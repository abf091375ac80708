import type { Logger } from 'pino';
import type { Database } from '../store/tables.ts';
import { deliveryProblems } from './delivery-problems.ts';
import { dueDeliveries, endDelivery, postponeDelivery } from './delivery-rows.ts';
import { openValues } from './open-set.ts';
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
const firstSeconds = 1;
const longestSeconds = 60;
/** After so many vain tries, which take half a minute, it has failed, and somebody should know. */
const patientTries = 6;

/**
 * Delivers what is due in the region of this host, once: the host holds a revision when each of its values opens here. For
 * processes nothing is copied anywhere, since an instance gets its values from the database when it starts. A damaged
 * revision fails for good. What may pass, such as a root key that is away, is tried again, at last once a minute; after some
 * tries it has failed, with the reason, until one of them succeeds.
 *
 * Idempotent, and bound to the revision: whoever comes late says nothing of a newer one.
 */
export async function deliverSecrets(context: Context): Promise<number> {
  const now = context.now();
  const when = { now, latest: later(now, longestSeconds) };
  const due = await dueDeliveries(context.db, context.host.region, when, batch);
  for (const delivery of due) {
    const of = { setId: delivery.set_id, revision: delivery.revision };
    const end = { hostId: context.host.id, at: context.now() };
    try {
      await hold(context, delivery.organization_id, of);
      await endDelivery(context.db, of, { ...end, state: 'ready', error: null, again: null });
    } catch (error) {
      const fields = { ...of, attempts: delivery.attempts, err: error };
      if (error instanceof DamagedError) {
        context.logger.warn(fields, 'a secret set does not match what was written; it is not used');
        await endDelivery(context.db, of, { ...end, state: 'failed', error: deliveryProblems.damaged, again: null });
        continue;
      }
      const again = later(context.now(), Math.min(firstSeconds * 2 ** delivery.attempts, longestSeconds));
      if (delivery.attempts + 1 < patientTries) {
        await postponeDelivery(context.db, of, again);
        continue;
      }
      context.logger.warn(fields, 'a secret set cannot be delivered; trying again');
      const reason = error instanceof RootKeyMissing ? deliveryProblems.keyAway : deliveryProblems.undelivered;
      await endDelivery(context.db, of, { ...end, state: 'failed', error: reason, again });
    }
  }
  return due.length;
}

function later(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}

async function hold(context: Context, organizationId: string, of: { setId: string; revision: number }): Promise<void> {
  const values = await inSnapshot(context.db, async (db) => {
    const set = await findSetById(db, organizationId, of.setId);
    // Deleted meanwhile, and its delivery with it.
    return set === undefined ? null : openValues({ ...context, db }, set, of.revision);
  });
  for (const value of values?.values() ?? []) value.fill(0);
}
