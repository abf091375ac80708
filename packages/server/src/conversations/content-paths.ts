import type { Database } from '../store/tables.ts';
import { getContentPath } from './content-path.ts';
import { listSessionsWithContent } from './rows.ts';

/** The files with the lines and recordings of ended conversations of a host, relative to its data directory. */
export async function listContentPaths(db: Database, hostId: string): Promise<string[]> {
  const found = await listSessionsWithContent(db, hostId);
  return found.map(({ kind, ...session }) => getContentPath('conversations', session, kind));
}
