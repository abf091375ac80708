import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';

/** An SQL expression: the events of a row of sessions without the bot's last output and the message of its exception. */
export const eventsWithoutBotText = sql`(
  select coalesce(jsonb_agg(event || jsonb_build_object('detail', (event -> 'detail')
    || case when event -> 'detail' ? 'tail' then '{"tail": ""}'::jsonb else '{}' end
    || case when event -> 'detail' ? 'exceptionMessage' then '{"exceptionMessage": null}'::jsonb else '{}' end)
    order by position), '[]')
  from jsonb_array_elements(events::jsonb) with ordinality as listed (event, position)
  where jsonb_typeof(event -> 'detail') = 'object')`;

/** Removes the last output of the bot, and the message of its exception, from the events of a session. */
export async function removeBotTextFromSession(db: Database, sessionId: string): Promise<void> {
  await sql`update sessions set events = ${eventsWithoutBotText} where id = ${sessionId}`.execute(db);
}
