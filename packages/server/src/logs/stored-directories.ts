import type { Database } from '../store/tables.ts';
import { logDirectory } from './directory.ts';
import { logsOfHost } from './rows.ts';

/** The directories with the stored output of a host, relative to its data directory. */
export async function storedLogDirectories(db: Database, hostId: string): Promise<string[]> {
  return (await logsOfHost(db, hostId)).map((log) => logDirectory('logs', log));
}
