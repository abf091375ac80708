import type { Logger } from 'pino';
import type { Database } from '../store/tables.ts';
import { pendingSince } from './delivery-rows.ts';

/** A delivery normally takes a second or two. */
const overdueSeconds = 60;
const loggedAtOnce = 20;

/** Logs sets of any region that have been pending for a minute: no server runs their region, or it cannot decrypt them. */
export async function watchPending(context: {
  readonly db: Database;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'warn'>;
}): Promise<number> {
  const since = new Date(context.now().getTime() - overdueSeconds * 1000);
  const overdue = await pendingSince(context.db, since, loggedAtOnce);
  for (const { organization, name, revision, region, attempts, created_at: at } of overdue) {
    context.logger.warn(
      { organization, set: name, revision, region, attempts, since: at.toISOString() },
      'secret set stays pending',
    );
  }
  return overdue.length;
}
