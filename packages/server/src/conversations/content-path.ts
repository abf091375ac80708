import { join } from 'node:path';
import type { Database } from '../store/tables.ts';
import type { ContentKind } from './content-file.ts';
import { listSessionsWithContent } from './rows.ts';

export function getContentPath(
  conversationsDirectory: string,
  session: { readonly agentId: string; readonly id: string },
  kind: ContentKind,
): string {
  return join(conversationsDirectory, session.agentId, getContentName(session.id, kind));
}

/** The name of a content file in the directory of its agent. */
export function getContentName(sessionId: string, kind: ContentKind): string {
  return kind === 'lines' ? sessionId : `${sessionId}.recording`;
}

/** The files with the lines and recordings of ended conversations of a host, relative to its data directory. */
export async function listContentPaths(db: Database, hostId: string): Promise<string[]> {
  const found = await listSessionsWithContent(db, hostId);
  return found.map(({ kind, ...session }) => getContentPath('conversations', session, kind));
}
