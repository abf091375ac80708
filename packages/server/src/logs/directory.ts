import { join } from 'node:path';
import type { Database } from '../store/tables.ts';
import { listLogsOfHost } from './rows.ts';

export function getLogDirectory(
  logsDirectory: string,
  instance: { readonly agent_id: string; readonly instance_id: string },
): string {
  return join(logsDirectory, instance.agent_id, instance.instance_id);
}

/** The directories with the stored output of a host, relative to its data directory. */
export async function listStoredLogDirectories(db: Database, hostId: string): Promise<string[]> {
  return (await listLogsOfHost(db, hostId)).map((log) => getLogDirectory('logs', log));
}
