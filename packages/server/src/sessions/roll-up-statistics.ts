import type { Database } from '../store/tables.ts';
import {
  deleteStatistics,
  findOldestChangingSession,
  findStatisticsEnd,
  replaceStatistics,
  rolledUpSeconds,
} from './statistics-rows.ts';

const dayMs = 86_400_000;
/** The longest period of statistics, and the interval that its start may be rounded down by. */
const keptMs = 8 * dayMs;
/** Sessions of this age may still end, or end with an earlier time after a server has adopted them. */
const changingMs = dayMs;
/** An interval is rolled up after this time, when transactions that create its sessions have been committed. */
const settlingMs = 60_000;
/** The response times of a session are stored within this time after its end. */
const storingMs = 600_000;

/**
 * Returns a function that keeps the table `session_statistics` up to date: it adds missing intervals, and replaces those whose
 * sessions may have changed since its last call, or those of the last day at its first call. The rows follow from sessions, so a
 * kill at any point only delays them.
 */
export function createStatisticsRollUp(context: { db: Database; now: () => Date }): () => Promise<void> {
  const { db } = context;
  /** Sessions that were created before this time have not changed since the last roll-up. */
  let unchangedBefore = 0;
  return async () => {
    const now = context.now().getTime();
    const until = roundDown(now - settlingMs);
    // Read before the sessions, so that a session that ends meanwhile is counted again by the next roll-up.
    const oldest = await findOldestChangingSession(db, new Date(now - storingMs));
    const end = (await findStatisticsEnd(db))?.getTime() ?? 0;
    const changed = Math.max(unchangedBefore, now - changingMs);
    const from = roundDown(Math.max(now - keptMs, Math.min(end, changed)));
    for (let start = from; start < until; start += dayMs) {
      const range = { from: new Date(start), to: new Date(Math.min(start + dayMs, until)) };
      if (!(await replaceStatistics(db, range))) return;
    }
    await deleteStatistics(db, new Date(now - keptMs));
    unchangedBefore = Math.min(oldest?.getTime() ?? now, now - settlingMs);
  };
}

function roundDown(milliseconds: number): number {
  return milliseconds - (milliseconds % (rolledUpSeconds * 1_000));
}
