import type { Database } from '../store/tables.ts';
import { eventsWithoutBotTextSql, removeTextFromEvents } from './rows.ts';

/** An SQL expression: the events of a row of sessions, without what the bot wrote. */
export const eventsWithoutBotText = eventsWithoutBotTextSql;

/** Removes the last output of the bot, and the message of its exception, from the events of a session. */
export async function removeBotTextFromSession(db: Database, sessionId: string): Promise<void> {
  await removeTextFromEvents(db, sessionId);
}
