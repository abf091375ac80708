import { randomBytes } from 'node:crypto';
import { readContentKeyVersion, unwrapContentKey, wrapContentKey } from '../secrets/vault/content-key.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Database } from '../store/tables.ts';
import type { ContentKind } from './content-file.ts';
import { type ConversationRow, insertConversation, insertRecordingKey } from './rows.ts';

type Session = { readonly id: string; readonly organizationId: string };
export type ContentKeyContext = { readonly db: Database; readonly keyring: Keyring };

/** Dependencies of `requireContentKey`, which also creates the key of a conversation. */
export type NewContentKeyContext = ContentKeyContext &
  Pick<StoreContext, 'now' | 'retryWrite'> & {
    readonly host: { readonly id: string };
  };

/**
 * Returns the key that encrypts what is kept of a session's conversation, and creates it first if necessary. Null if the
 * conversation was deleted. The key of a recording needs the row of the conversation, so require that of the lines first.
 */
export async function requireContentKey(
  context: NewContentKeyContext,
  session: Session,
  kind: ContentKind = 'lines',
): Promise<Buffer | null> {
  const { db, keyring, retryWrite } = context;
  const { id: sessionId, organizationId } = session;
  await retryWrite(() => keyring.ensure(db, organizationId));
  const key = await keyring.current(db, organizationId, 'value');
  const wrappedKey = wrapContentKey(key, { organizationId, sessionId }, randomBytes(32), randomBytes);
  const row = { sessionId, hostId: context.host.id, wrappedKey, createdAt: context.now() };
  const insert = kind === 'lines' ? insertConversation : insertRecordingKey;
  const stored = await retryWrite(() => insert(db, row));
  const wrapped = stored === undefined ? null : getWrappedKey(stored, kind);
  return wrapped === null ? null : readContentKey(context, session, wrapped);
}

export function getWrappedKey(
  row: Pick<ConversationRow, 'wrapped_key' | 'recording_key'>,
  kind: ContentKind,
): Buffer | null {
  return kind === 'lines' ? row.wrapped_key : row.recording_key;
}

/** @throws DamagedDataError, RootKeyMissingError if the key cannot be unwrapped */
export async function readContentKey(
  { db, keyring }: ContentKeyContext,
  { id: sessionId, organizationId }: Session,
  wrapped: Buffer,
): Promise<Buffer> {
  const key = await keyring.version(db, organizationId, 'value', readContentKeyVersion(wrapped));
  return unwrapContentKey(key, { organizationId, sessionId }, wrapped);
}
