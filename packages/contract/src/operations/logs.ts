import { z } from 'zod';
import { logPage } from '../limits.ts';
import { operation } from '../operation.ts';
import { AgentPath, Id, noBody } from './fields.ts';

/** Levels of the Pipecat line format (bot contract 2.11), rising. */
export const logLevels = ['TRACE', 'DEBUG', 'INFO', 'SUCCESS', 'WARNING', 'ERROR', 'CRITICAL'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * One line of a bot's output. `log` is the line as the bot wrote it, without its break: bytes that are no UTF-8 are
 * replaced, terminal sequences are kept, so whoever prints it has to make it safe.
 */
export const LogLine = z
  .object({
    log: z.string(),
    timestamp: z
      .string()
      .meta({ format: 'date-time' })
      .describe(
        'When the service saw the line, with nanoseconds; the last six digits keep the order of lines seen at once',
      ),
    deploymentId: Id,
    instanceId: Id,
    sessionId: Id.nullable().describe('Null for lines of an instance that never had a session'),
    level: z.enum(logLevels).nullable().describe('Read from a line in the Pipecat format; null for any other'),
    beforeSession: z
      .boolean()
      .optional()
      .describe('Written before the session was asked for, while its instance was warm'),
    unattended: z.boolean().optional().describe('Written while no server ran: the timestamp is the latest it can be'),
    continued: z.boolean().optional().describe('The next entry goes on in the same line, which was too long for one'),
    droppedBytes: z.number().int().optional().describe('Here so much output was dropped; log says so in words'),
  })
  .meta({ id: 'LogLine' });
export type LogLine = z.infer<typeof LogLine>;

/** Up to the end of the year 9999, in seconds, fractions allowed. */
const moment = z.coerce
  .number<number>()
  .min(0)
  .max(253_402_300_799)
  .describe('Unix time in seconds, fractions allowed')
  .optional();

/**
 * Cloud API 5.4; `level`, `cursor` and `wait` are ours. To follow: read with `order=desc`, then ask for `followCursor` with
 * `order=asc` and `wait`, and go on with each answer's `nextCursor` until it is null.
 */
export const getLogs = operation({
  name: 'getLogs',
  summary: 'Read, search and follow the output of an agent',
  tag: 'logs',
  key: 'private',
  method: 'GET',
  path: '/agents/{agentName}/logs',
  params: AgentPath,
  query: z.object({
    limit: z.coerce.number<number>().int().min(1).max(logPage.maximum).default(logPage.default),
    offset: z.coerce.number<number>().int().min(0).max(1_000_000).default(0),
    cursor: z.string().optional().describe('nextCursor or followCursor of another answer; offset is ignored then'),
    deploymentId: Id.optional(),
    sessionId: Id.optional(),
    query: z.string().max(1_000).optional().describe('Text that lines contain, whatever their case'),
    level: z
      .string()
      .transform((level) => level.toUpperCase())
      .pipe(z.enum(logLevels))
      .optional()
      .describe('Least level; lines without a level are left out'),
    order: z.enum(['asc', 'desc']).default('desc'),
    startTime: moment,
    endTime: moment,
    wait: z.coerce
      .number<number>()
      .min(0)
      .max(logPage.waitSeconds)
      .default(0)
      .describe('With order asc: seconds to wait for a first line when there is none yet'),
  }),
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: z.object({
    total: z
      .object({ value: z.number().int(), relation: z.enum(['eq', 'gte']) })
      .describe('Lines that match, this page included; gte: there may be more, which were not looked for'),
    logs: z.array(LogLine),
    nextCursor: z
      .string()
      .nullable()
      .describe(
        'Where the next page begins, also after a page without lines; null: nothing is left and nothing will come',
      ),
    followCursor: z
      .string()
      .nullable()
      .describe('With order desc, on the first page: where lines begin that come after this answer; null: none will'),
  }),
  errors: ['invalid-request', 'not-found'],
});
