import type { Database } from '../store/tables.ts';
import { removeTextFromEvents } from './rows.ts';

/** Removes the last output of the bot, and the message of its exception, from the events of a session. */
export async function removeBotTextFromSession(db: Database, sessionId: string): Promise<void> {
  await removeTextFromEvents(db, sessionId);
}
