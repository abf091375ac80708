import { z } from 'zod';
import { everyone } from '../authorization.ts';
import { linesPerLogPage, logLevels } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { AgentPathParameters, requestWithoutBody, UnixSeconds, Uuid } from './fields.ts';

/**
 * One line of a bot's output. `log` is the line without its line break; bytes that are not UTF-8 are replaced. `log` may contain
 * terminal control sequences, so clients must remove them before they print it.
 */
export const LogLine = z
  .object({
    log: z.string(),
    timestamp: z
      .string()
      .meta({ format: 'date-time' })
      .describe(
        'With readAt: when the bot wrote the line, as the line says. Without it: when the service read the line, with ' +
          'nanoseconds; the last six digits keep the order of lines read at once',
      ),
    readAt: z
      .string()
      .meta({ format: 'date-time' })
      .optional()
      .describe(
        'When the service read the line, if timestamp is the time that the bot wrote. Order, cursors, startTime and endTime ' +
          'use the time of reading',
      ),
    deploymentId: Uuid,
    instanceId: Uuid,
    sessionId: Uuid.nullable().describe('Null for lines of an instance that never had a session'),
    level: z
      .enum(logLevels)
      .nullable()
      .describe(
        "Level of the line's log entry in the formats of loguru, Python's logging, and logs in JSON; ERROR for a traceback " +
          'without an entry; null for any other line',
      ),
    continuesEntry: z
      .boolean()
      .optional()
      .describe('The line continues the log entry of an earlier line of its instance, such as a line of a traceback'),
    beforeSession: z
      .boolean()
      .optional()
      .describe('Written before the session was requested, while its instance was warm'),
    unattended: z.boolean().optional().describe('Written while no server ran; the timestamp is an upper bound'),
    continued: z.boolean().optional().describe('The next entry continues this line, which is too long for one entry'),
    droppedBytes: z
      .number()
      .int()
      .optional()
      .describe('Bytes of output that were dropped here; log contains a sentence about it'),
  })
  .meta({ id: 'LogLine' });
export type LogLine = z.infer<typeof LogLine>;

const logQuery = z.object({
  limit: z.coerce.number<number>().int().min(1).max(linesPerLogPage.maximum).default(linesPerLogPage.default),
  offset: z.coerce.number<number>().int().min(0).max(1_000_000).default(0),
  cursor: z.string().optional().describe('nextCursor or followCursor of another response; makes offset ignored'),
  deploymentId: Uuid.optional(),
  sessionId: Uuid.optional(),
  query: z.string().max(1_000).optional().describe('Only lines that contain this text, ignoring case'),
  level: z
    .string()
    .transform((level) => level.toUpperCase())
    .pipe(z.enum(logLevels))
    .optional()
    .describe('Minimum level; lines without a level are omitted'),
  order: z.enum(['asc', 'desc']).default('desc'),
  startTime: UnixSeconds,
  endTime: UnixSeconds,
  wait: z.coerce
    .number<number>()
    .min(0)
    .max(linesPerLogPage.waitSeconds)
    .default(0)
    .describe('With order asc: seconds to wait for a first line if there is none yet'),
});

function logResponse<Line extends z.ZodType>(line: Line) {
  return z.object({
    total: z
      .object({ value: z.number().int(), relation: z.enum(['eq', 'gte']) })
      .describe('Matching lines, including this page; gte: counting stopped at a limit, and there may be more'),
    logs: z.array(line),
    maskingIncomplete: z
      .boolean()
      .optional()
      .describe(
        'True if secret values of these bots could not be decrypted, for example because their secret set was deleted. ' +
          'If a bot printed such a value, these lines contain it',
      ),
    hiddenByRole: z
      .boolean()
      .optional()
      .describe(
        'True if logs of sessions that keep the text of conversations were left out, because viewers must not read them',
      ),
    nextCursor: z
      .string()
      .nullable()
      .describe('Where the next page starts, also after an empty page; null: no lines are left and none will follow'),
    followCursor: z
      .string()
      .nullable()
      .describe(
        'With order desc, on the first page: where lines start that are written after this response; null: none will be',
      ),
  });
}

const logOperation = { tag: 'logs', key: 'private', grantees: everyone } as const;

/**
 * To follow a log: read with `order=desc`, then request `followCursor` with `order=asc` and `wait`, and continue with the
 * `nextCursor` of each response until it is null.
 */
export const getLogs = defineOperation({
  ...requestWithoutBody,
  ...logOperation,
  name: 'getLogs',
  summary: 'Read, search and follow the output of an agent',
  path: '/agents/{agentName}/logs',
  params: AgentPathParameters,
  query: logQuery,
  response: logResponse(LogLine),
  errors: ['invalid-request', 'not-found'],
});

const OrganizationLogLine = LogLine.extend({ agentName: z.string() }).meta({ id: 'OrganizationLogLine' });

/** Like `getLogs`, with the lines of all agents merged by time. */
export const listOrganizationLogs = defineOperation({
  ...requestWithoutBody,
  ...logOperation,
  name: 'listOrganizationLogs',
  summary: 'Read, search and follow the output of all agents',
  path: '/logs',
  query: logQuery,
  response: logResponse(OrganizationLogLine),
  errors: ['invalid-request'],
});

const count = z.number().int();

/** How many lines an interval has. Clients draw them as a histogram over time. */
const LogInterval = z
  .object({
    at: count.describe('Start of the interval, Unix time in seconds'),
    lines: count,
    warnings: count.describe('Of these, lines with the level WARNING'),
    errors: count.describe('Of these, lines with the level ERROR or CRITICAL'),
  })
  .meta({ id: 'LogInterval' });
export type LogInterval = z.infer<typeof LogInterval>;

export const getLogHistogram = defineOperation({
  ...requestWithoutBody,
  ...logOperation,
  name: 'getLogHistogram',
  summary: 'Count lines of the output of agents over time, by level',
  path: '/logs/histogram',
  query: logQuery
    .pick({ deploymentId: true, sessionId: true, query: true, level: true, startTime: true, endTime: true })
    .extend({ agent: z.string().optional().describe('Name or id of an agent; without it, all agents') }),
  response: z.object({
    stepSeconds: count.describe('Length of an interval; longer for a longer period'),
    intervals: z.array(LogInterval).describe('Intervals that have lines, oldest first'),
    countedFrom: z
      .number()
      .nullable()
      .describe('Counting stopped at a limit: only lines since this Unix time are counted. Null: all lines are'),
  }),
  errors: ['invalid-request', 'not-found'],
});
