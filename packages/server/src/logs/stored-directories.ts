import type { Database } from '../store/tables.ts';
import { logDirectory } from './directory.ts';
import { listLogsOfHost } from './rows.ts';

/** The directories with the stored output of a host, relative to its data directory. */
export async function storedLogDirectories(db: Database, hostId: string): Promise<string[]> {
  return (await listLogsOfHost(db, hostId)).map((log) => logDirectory('logs', log));
}
