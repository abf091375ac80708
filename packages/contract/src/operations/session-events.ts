import { z } from 'zod';
import { listStatusValues, type SessionEventCode, sessionEventLabels } from '../statuses.ts';
import { IsoDateTime } from './fields.ts';

function defineEvent<Code extends SessionEventCode, Detail extends z.ZodObject>(code: Code, detail: Detail) {
  return z.object({ eventCode: z.literal(code), eventTs: IsoDateTime, detail });
}

const NoticeDetail = z.object({ detail: z.string().describe('A sentence that says what the service observed') });

const SessionEventOfThisVersion = z.discriminatedUnion('eventCode', [
  defineEvent(
    'INSTANCE_START_FAILED',
    z.object({ cause: z.string().describe('A sentence that says why the instance did not start') }),
  ),
  defineEvent(
    'INSTANCE_REPLACED',
    z.object({ cause: z.string().describe('A sentence that says why the former instance could not get the session') }),
  ),
  defineEvent(
    'INSTANCE_EXITED',
    z.object({
      code: z.number().int().nullable().describe('Exit code; null if the bot was killed, or if it is unknown'),
      signal: z.string().nullable().describe('The signal that killed the bot'),
      reason: z
        .enum(['exited', 'out-of-memory', 'disk', 'platform', 'unknown'])
        .optional()
        .describe('`unknown`: nothing recorded how the instance ended. Missing in events of earlier versions'),
      outOfMemory: z.boolean(),
      diskLimit: z.string().optional().describe('If the bot was killed for its disk usage, a sentence that says why'),
      platformCause: z
        .string()
        .optional()
        .describe('If the platform ended the bot, for example by an eviction, a sentence that says why'),
      tail: z.string().optional().describe('Last output of the bot'),
    }),
  ),
  defineEvent('INSTANCE_LISTENS_WIDE', NoticeDetail),
  defineEvent('INSTANCE_CPU_LIMIT_NOT_ENFORCED', NoticeDetail),
  defineEvent('INSTANCE_MEMORY_LIMIT_SAMPLED', NoticeDetail),
  defineEvent('INSTANCE_OUTPUT_DROPPED', NoticeDetail),
  defineEvent('INSTANCE_PULLING', NoticeDetail),
  defineEvent('INSTANCE_WAITING', NoticeDetail),
  defineEvent(
    'SOCKET_REFUSED',
    z.object({ status: z.number().int(), phrase: z.string() }).describe("The bot's HTTP response"),
  ),
  defineEvent(
    'BOT_FAILED',
    z.object({
      status: z.number().int().describe('HTTP status with which the session ended'),
      exceptionType: z.string().nullable().describe('The exception that the bot raised; null if it reported none'),
      exceptionMessage: z.string().nullable(),
      tail: z.string().describe('Last output of the bot'),
    }),
  ),
]);

/** An event whose code this version does not know. A newer service may send one. */
const UnknownSessionEvent = z.object({
  eventCode: z
    .string()
    .refine((code) => !Object.hasOwn(sessionEventLabels, code))
    .brand('UnknownSessionEventCode')
    .describe(`Later versions may add to ${listStatusValues(sessionEventLabels).join(', ')}`),
  eventTs: IsoDateTime,
  detail: z.record(z.string(), z.unknown()).nullable(),
});

/** Something that happened to a session, with its cause. The code decides which fields `detail` has. */
export const SessionEvent = z.union([SessionEventOfThisVersion, UnknownSessionEvent]).meta({ id: 'SessionEvent' });
export type SessionEvent = z.infer<typeof SessionEvent>;
export type SessionEventOfThisVersion = z.infer<typeof SessionEventOfThisVersion>;
