import type { DirectoryTreeRemover } from '@bothost/runtime';
import { removeOrphans } from '../store/remove-orphans.ts';
import { daysBefore } from '../store/retention.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { getLogDirectory } from './directory.ts';
import {
  deleteLog,
  findInstancesWithStoredLog,
  listLogsBeyondTotalSize,
  listLogsEndedBefore,
  listSurplusLogsWithoutSession,
} from './rows.ts';

const batch = 500;
/** Maximum number of logs per deployment that are kept from instances without a session, such as failed starts. */
const keptWithoutSession = 20;

export type LogRetentionContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly host: { readonly id: string };
  readonly logsDirectory: string;
  readonly removeTree: DirectoryTreeRemover;
};

/**
 * Limits on stored logs: `days` is the maximum age, or 0 for no limit; `totalBytes` is the maximum size of all logs of this host.
 */
export type LogRetention = { readonly days: number; readonly totalBytes: number };

/**
 * Removes logs of this host in three steps, and returns the number of removed logs:
 *
 * 1. all logs that are older than the maximum age;
 * 2. in each deployment, the oldest logs from instances without a session, until at most `keptWithoutSession` of them remain;
 * 3. the oldest remaining logs, until the total size is within the maximum.
 *
 * Removes the files of a log before its database row, so that the next run finishes a removal that was interrupted.
 */
export async function purgeLogs(context: LogRetentionContext, retention: LogRetention): Promise<number> {
  const { db, host } = context;
  const before = daysBefore(context.now(), retention.days);
  let removed = 0;
  if (retention.days > 0) removed += await removeAll(context, () => listLogsEndedBefore(db, host.id, before, batch));
  removed += await removeAll(context, () => listSurplusLogsWithoutSession(db, host.id, keptWithoutSession, batch));
  removed += await removeAll(context, () => listLogsBeyondTotalSize(db, host.id, retention.totalBytes, batch));
  return removed;
}

async function removeAll(
  context: LogRetentionContext,
  find: () => ReturnType<typeof listLogsEndedBefore>,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const found = await find();
    for (const log of found) {
      await context.removeTree(getLogDirectory(context.logsDirectory, log));
      await deleteLog(context.db, log.instance_id);
    }
    removed += found.length;
    if (found.length < batch) return removed;
  }
}

export async function removeOrphanedLogs({ db, now, logsDirectory, removeTree }: LogRetentionContext): Promise<void> {
  const findKnown = (ids: readonly string[]) => findInstancesWithStoredLog(db, ids);
  await removeOrphans(logsDirectory, { now: now(), matches: isUuid, findKnown, remove: removeTree });
}
