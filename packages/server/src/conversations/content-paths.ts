import type { Database } from '../store/tables.ts';
import { getContentPath } from './content-path.ts';
import { listSessionsWithContent } from './rows.ts';

/** The files with the lines of ended conversations of a host, relative to its data directory. */
export async function listContentPaths(db: Database, hostId: string): Promise<string[]> {
  const sessions = await listSessionsWithContent(db, hostId);
  return sessions.map((session) => getContentPath('conversations', session));
}
