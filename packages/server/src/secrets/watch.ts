import type { Logger } from 'pino';
import type { Database } from '../store/tables.ts';
import { listPendingSince } from './delivery-rows.ts';

/** A delivery normally takes one or two seconds. */
const overdueSeconds = 60;
const loggedAtOnce = 20;

/**
 * Logs secret sets of any region that have been pending for a minute, because no server runs in their region or none can decrypt
 * them.
 */
export async function watchPending(context: {
  readonly db: Database;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'warn'>;
}): Promise<number> {
  const since = new Date(context.now().getTime() - overdueSeconds * 1000);
  const overdue = await listPendingSince(context.db, since, loggedAtOnce);
  for (const { organization, name, revision, region, attempts, created_at: at } of overdue) {
    context.logger.warn(
      { organization, set: name, revision, region, attempts, since: at.toISOString() },
      'secret set stays pending',
    );
  }
  return overdue.length;
}
