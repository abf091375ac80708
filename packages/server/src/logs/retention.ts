import type { DirectoryTreeRemover } from '@bothost/runtime';
import { removeOrphans } from '../store/remove-orphans.ts';
import { removeInBatches, removeOlderThan } from '../store/retention.ts';
import type { StoreContext } from '../store/store-context.ts';
import { isUuid } from '../store/uuid.ts';
import { getLogDirectory } from './directory.ts';
import {
  deleteLog,
  findInstancesWithStoredLog,
  listLogsBeyondTotalSize,
  listLogsEndedBefore,
  listSurplusLogsWithoutSession,
} from './rows.ts';

/** Maximum number of logs per deployment that are kept from instances without a session, such as failed starts. */
const keptWithoutSession = 20;

export type LogRetentionContext = Pick<StoreContext, 'db' | 'now'> & {
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
 * 3. the oldest remaining logs of the organizations with the most output, until the total size is within the maximum.
 *
 * Removes the files of a log before its database row, so that the next run finishes a removal that was interrupted.
 */
export async function purgeLogs(context: LogRetentionContext, retention: LogRetention): Promise<number> {
  const { db, host } = context;
  const remove = async (listing: ReturnType<typeof listLogsEndedBefore>) => {
    const logs = await listing;
    for (const log of logs) {
      await context.removeTree(getLogDirectory(context.logsDirectory, log));
      await deleteLog(db, log.instance_id);
    }
    return logs.length;
  };
  const old = await removeOlderThan(context, retention.days, (_, before, limit) =>
    remove(listLogsEndedBefore(db, host.id, before, limit)),
  );
  const surplus = await removeInBatches((limit) =>
    remove(listSurplusLogsWithoutSession(db, host.id, keptWithoutSession, limit)),
  );
  const beyondSize = await removeInBatches((limit) =>
    remove(listLogsBeyondTotalSize(db, host.id, retention.totalBytes, limit)),
  );
  return old + surplus + beyondSize;
}

export async function removeOrphanedLogs({ db, now, logsDirectory, removeTree }: LogRetentionContext): Promise<void> {
  const findKnown = (ids: readonly string[]) => findInstancesWithStoredLog(db, ids);
  await removeOrphans(logsDirectory, { now: now(), matches: isUuid, findKnown, remove: removeTree });
}
