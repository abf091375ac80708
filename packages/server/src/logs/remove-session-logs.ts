import type { DirectoryTreeRemover } from '@bothost/runtime';
import type { Database } from '../store/tables.ts';
import { getLogDirectory } from './directory.ts';
import { deleteLog, listLogsOfSession } from './rows.ts';

/** Removes the stored logs of a session from this host: the files first, so that a removal that was interrupted can be repeated. */
export async function removeSessionLogs(
  context: {
    readonly db: Database;
    readonly host: { readonly id: string };
    readonly logsDirectory: string;
    readonly removeTree: DirectoryTreeRemover;
  },
  sessionId: string,
): Promise<void> {
  for (const log of await listLogsOfSession(context.db, context.host.id, sessionId)) {
    await context.removeTree(getLogDirectory(context.logsDirectory, log));
    await deleteLog(context.db, log.instance_id);
  }
}
