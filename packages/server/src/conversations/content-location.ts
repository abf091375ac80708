import type { ContentKind, ContentLocation } from './content-file.ts';
import { type ContentKeyContext, type NewContentKeyContext, readContentKey, requireContentKey } from './content-key.ts';
import { getContentPath } from './content-path.ts';

export type ContentContext = ContentKeyContext & { readonly conversationsDirectory: string };
export type NewContentContext = NewContentKeyContext & ContentContext;
type ContentSession = { readonly id: string; readonly organizationId: string; readonly agentId: string };

/** Creates the key of a content file, unless there is one. The file is created with its first frame. */
export async function createContent(
  context: NewContentContext,
  session: ContentSession,
  kind: ContentKind,
): Promise<ContentLocation> {
  const key = await requireContentKey(context, session, kind);
  if (key === null) throw new Error('The conversation was deleted.');
  return { kind, sessionId: session.id, path: getContentPath(context.conversationsDirectory, session, kind), key };
}

/** @throws DamagedDataError, RootKeyMissingError if the key cannot be unwrapped */
export async function locateContent(
  context: ContentContext,
  session: ContentSession,
  kind: ContentKind,
  wrapped: Buffer,
): Promise<ContentLocation> {
  const key = await readContentKey(context, session, wrapped);
  return { kind, sessionId: session.id, path: getContentPath(context.conversationsDirectory, session, kind), key };
}
