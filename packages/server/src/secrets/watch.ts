import type { Logger } from 'pino';
import type { Database } from '../store/tables.ts';
import { pendingSince } from './delivery-rows.ts';

/** Deliveries take a second or two. */
const overdueSeconds = 60;
const told = 20;

/** Says which sets of any region have been pending for too long: nobody serves their region, or it cannot open them. */
export async function watchPending(context: {
  readonly db: Database;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'warn'>;
}): Promise<number> {
  const since = new Date(context.now().getTime() - overdueSeconds * 1000);
  const stuck = await pendingSince(context.db, since, told);
  for (const { organization, name, revision, region, attempts, created_at: at } of stuck) {
    context.logger.warn(
      { organization, set: name, revision, region, attempts, since: at.toISOString() },
      'a secret set stays pending: no server of its region has taken it',
    );
  }
  return stuck.length;
}
