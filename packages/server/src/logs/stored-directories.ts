import type { Database } from '../store/tables.ts';
import { getLogDirectory } from './directory.ts';
import { listLogsOfHost } from './rows.ts';

/** The directories with the stored output of a host, relative to its data directory. */
export async function listStoredLogDirectories(db: Database, hostId: string): Promise<string[]> {
  return (await listLogsOfHost(db, hostId)).map((log) => getLogDirectory('logs', log));
}
