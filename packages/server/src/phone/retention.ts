import { removeOlderThan } from '../store/retention.ts';
import type { Database } from '../store/tables.ts';
import { deleteRefusedCallsBefore } from './rows.ts';

/** Deletes refused calls that are older than `days`, like the logs of the agents. Deletes none if `days` is 0. */
export async function purgeRefusedCalls(context: { db: Database; now: () => Date }, days: number): Promise<void> {
  await removeOlderThan(context, days, deleteRefusedCallsBefore);
}
