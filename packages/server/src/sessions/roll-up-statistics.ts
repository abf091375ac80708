import type { Database } from '../store/tables.ts';
import { deleteStatistics, findStatisticsEnd, replaceStatistics, rolledUpSeconds } from './statistics-rows.ts';

const dayMs = 86_400_000;
/** The longest period of statistics, and the interval that its start may be rounded down by. */
const keptMs = 8 * dayMs;
/** Sessions of this age may still end, or end with an earlier time after a server has adopted them. */
const changingMs = dayMs;
/** An interval is rolled up after this time, when transactions that create its sessions have been committed. */
const settlingMs = 60_000;

/**
 * Keeps the table `session_statistics` up to date: replaces the intervals of the last day, and adds missing ones. Its rows follow
 * from sessions, so a kill at any point only delays them.
 */
export async function rollUpStatistics(context: { db: Database; now: () => Date }): Promise<void> {
  const now = context.now().getTime();
  const until = roundDown(now - settlingMs);
  const end = (await findStatisticsEnd(context.db))?.getTime() ?? 0;
  const from = roundDown(Math.max(now - keptMs, Math.min(end, now - changingMs)));
  for (let start = from; start < until; start += dayMs) {
    const range = { from: new Date(start), to: new Date(Math.min(start + dayMs, until)) };
    if (!(await replaceStatistics(context.db, range))) return;
  }
  await deleteStatistics(context.db, new Date(now - keptMs));
}

function roundDown(milliseconds: number): number {
  return milliseconds - (milliseconds % (rolledUpSeconds * 1_000));
}
