import { join } from 'node:path';
import type { ContentKind } from './content-file.ts';

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
