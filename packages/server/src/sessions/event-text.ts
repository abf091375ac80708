import { sql } from 'kysely';
import type { Database, StoredSessionEvent } from '../store/tables.ts';

/** The parts of an event that a bot wrote, and that may quote the conversation. */
export type EventText = { readonly exceptionMessage?: string | null | undefined; readonly tail?: string | undefined };

/** Returns the text that an event keeps encrypted. Null if there is none, or if it was deleted. */
export type EventTextReader = (
  session: { readonly id: string; readonly organizationId: string },
  event: StoredSessionEvent,
) => Promise<EventText | null>;

/** Separates an event from what its bot wrote. */
export function splitEventText(event: StoredSessionEvent): {
  readonly event: StoredSessionEvent;
  readonly text: EventText | null;
} {
  switch (event.code) {
    case 'BOT_FAILED': {
      const { exceptionMessage, tail } = event.detail;
      return { event: { ...event, detail: { ...event.detail, ...withoutText } }, text: { exceptionMessage, tail } };
    }
    case 'INSTANCE_EXITED': {
      const { tail, ...detail } = event.detail;
      return { event: { ...event, detail }, text: tail === undefined ? null : { tail } };
    }
    default:
      return { event, text: null };
  }
}

const withoutText = { exceptionMessage: null, tail: '' };

/** The reverse of `splitEventText`. */
export function addEventText(event: StoredSessionEvent, text: EventText): StoredSessionEvent {
  switch (event.code) {
    case 'BOT_FAILED':
    case 'INSTANCE_EXITED':
      // The union of details cannot be spread as one type.
      return { ...event, detail: { ...event.detail, ...text } } as StoredSessionEvent;
    default:
      return event;
  }
}

/** An SQL expression: the events of a row of sessions without the bot's last output and the message of its exception. */
export const eventsWithoutText = sql`(
  select coalesce(jsonb_agg((event - 'text') || jsonb_build_object('detail', case
    when jsonb_typeof(event -> 'detail') = 'object' then (event -> 'detail')
      || case when event -> 'detail' ? 'tail' then '{"tail": ""}'::jsonb else '{}' end
      || case when event -> 'detail' ? 'exceptionMessage' then '{"exceptionMessage": null}'::jsonb else '{}' end
    end) order by position), '[]')
  from jsonb_array_elements(events::jsonb) with ordinality as listed (event, position))`;

/** Removes the last output of the bot, and the message of its exception, from the events of a session. */
export async function removeEventTexts(db: Database, sessionId: string): Promise<void> {
  await sql`update sessions set events = ${eventsWithoutText} where id = ${sessionId}`.execute(db);
}
