import { randomBytes } from 'node:crypto';
import { hasConversationText } from '@bothost/contract';
import type { Logger } from 'pino';
import { decrypt, encrypt } from '../secrets/vault/aes-gcm.ts';
import { encodeValueList } from '../secrets/vault/encode.ts';
import { type EventText, type EventTextReader, splitEventText } from '../sessions/event-text.ts';
import type { StoredSessionEvent } from '../store/tables.ts';
import { readContentKey, requireContentKey } from './content-key.ts';
import { findConversation, findFollowedSession } from './rows.ts';

type Context = Parameters<typeof requireContentKey>[0] & { readonly logger: Pick<Logger, 'warn'> };

/**
 * Returns an event in the form in which it is stored. What the bot wrote may quote the conversation: it is left out if the level of
 * the session keeps no text or only redacted text, and otherwise encrypted with the key of the conversation, so that deletion and
 * retention reach it. Never rejects: without the database or the key, the event has no text, because it must be recorded in any case.
 */
export async function protectEventText(
  context: Context,
  sessionId: string,
  unprotected: StoredSessionEvent,
): Promise<StoredSessionEvent> {
  const { event, text } = splitEventText(unprotected);
  if (text === null) return event;
  try {
    const session = await context.retryWrite(() => findFollowedSession(context.db, sessionId));
    // Output is not redacted.
    if (session === undefined || !hasConversationText(session.level) || session.isRedacted) return event;
    const key = await requireContentKey(context, session);
    if (key === null) return event;
    const encrypted = encrypt(key, associatedData(sessionId, event), Buffer.from(JSON.stringify(text)), randomBytes);
    return { ...event, text: encrypted.toString('base64') };
  } catch (error) {
    context.logger.warn({ sessionId, err: error }, 'last output of bot dropped because it could not be encrypted');
    return event;
  }
}

export function createEventTextReader(
  context: Parameters<typeof readContentKey>[0] & { readonly logger: Pick<Logger, 'error'> },
): EventTextReader {
  return async (session, event) => {
    if (event.text === undefined) return null;
    const row = await findConversation(context.db, session.id);
    if (row?.wrapped_key == null) return null;
    try {
      const key = await readContentKey(context, session, row.wrapped_key);
      const stored = Buffer.from(event.text, 'base64');
      return JSON.parse(decrypt(key, associatedData(session.id, event), stored).toString()) as EventText;
    } catch (error) {
      context.logger.error({ err: error, sessionId: session.id }, 'last output of bot could not be decrypted');
      return null;
    }
  };
}

function associatedData(sessionId: string, { code, at }: StoredSessionEvent): Buffer {
  return encodeValueList(['bothost event text', sessionId, code, at]);
}
