import type { Logger } from 'pino';
import type { StoreContext } from '../store/store-context.ts';
import { listDeliveriesPendingSince } from './delivery-rows.ts';

/** Seconds after which a pending secret set is logged. Delivery to a running server normally takes one or two seconds. */
const overdueSeconds = 60;
const maxLogged = 20;

/** Logs the sets that are pending for over a minute, because no server of their region can decrypt them. Returns their number. */
export async function logPendingSecretDeliveries(
  context: Pick<StoreContext, 'db' | 'now'> & {
    readonly logger: Pick<Logger, 'warn'>;
  },
): Promise<number> {
  const since = new Date(context.now().getTime() - overdueSeconds * 1000);
  const overdue = await listDeliveriesPendingSince(context.db, since, maxLogged);
  for (const { organization, name, revision, region, attempts, created_at: at } of overdue) {
    context.logger.warn(
      { organization, set: name, revision, region, attempts, since: at.toISOString() },
      'secret set still not delivered to its region',
    );
  }
  return overdue.length;
}
