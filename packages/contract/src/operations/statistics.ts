import { z } from 'zod';
import { everyone } from '../authorization.ts';
import { defineOperation } from '../operation.ts';
import { deploymentStateLabels, listStatusValues } from '../statuses.ts';
import { agentDeleted, IsoDateTime, requestWithoutBody, Uuid } from './fields.ts';

/** Lengths of the periods that statistics cover, and of their intervals, in seconds. */
export const statisticsPeriods = {
  hour: { seconds: 3_600, stepSeconds: 60 },
  day: { seconds: 86_400, stepSeconds: 1_800 },
  week: { seconds: 604_800, stepSeconds: 7_200 },
} as const;
export type StatisticsPeriod = keyof typeof statisticsPeriods;

const count = z.number().int();
const latency = count.nullable();

const figures = {
  sessions: count.describe('Sessions that were created'),
  failed: count.describe('Of these, the sessions that failed, except if no client connected or somebody stopped them'),
  startP50Ms: latency.describe('From the start request to the bot that has the session, within 8 %; null: none'),
  startP95Ms: latency,
  responseP50Ms: latency.describe("Median of the sessions' median response times, within 8 %; null: none"),
  responseP95Ms: latency,
};
const SessionFigures = z.object(figures);
export type SessionFigures = z.infer<typeof SessionFigures>;

const StatisticsPoint = z
  .object({
    at: IsoDateTime.describe('Start of the interval'),
    ...figures,
    openAtMost: count.describe('Highest number of sessions of an agent at the same time; the sum over agents'),
    limit: count.describe('How many sessions the serving deployments allowed at the same time, at the end'),
  })
  .meta({ id: 'StatisticsPoint' });
export type StatisticsPoint = z.infer<typeof StatisticsPoint>;

const DeploymentStatistics = z
  .object({
    deploymentId: Uuid,
    agentId: Uuid,
    agentName: z.string(),
    agentDeleted,
    state: z.enum(listStatusValues(deploymentStateLabels)),
    at: IsoDateTime.describe('When it first served sessions or failed; until then, when it was created'),
    ...figures,
    openAtMost: count.describe('Its sessions when its agent had most at the same time'),
    limit: count.describe('How many sessions it allows at the same time'),
  })
  .meta({ id: 'DeploymentStatistics' });
export type DeploymentStatistics = z.infer<typeof DeploymentStatistics>;

/** Figures of a period in intervals of equal length. A session belongs to the interval in which it was created. */
export const Statistics = z
  .object({
    stepSeconds: count,
    points: z.array(StatisticsPoint).describe('Oldest first. The last interval has not ended'),
    total: SessionFigures,
    deployments: z
      .array(DeploymentStatistics)
      .describe('Deployments that had sessions, began to serve or failed in the period, oldest first'),
  })
  .meta({ id: 'Statistics' });
export type Statistics = z.infer<typeof Statistics>;

const period = z.enum(['hour', 'day', 'week'] satisfies StatisticsPeriod[]).default('hour');
const agent = z.string().optional().describe('Name or id of an agent; without it, all agents');

const statisticsOperation = { tag: 'sessions', key: 'private', grantees: everyone } as const;

export const getStatistics = defineOperation({
  ...requestWithoutBody,
  ...statisticsOperation,
  name: 'getStatistics',
  summary: 'Get sessions, start and response times, failures and capacity over the last hour, day or week',
  path: '/statistics',
  query: z.object({ period, agent }),
  response: Statistics,
  errors: ['invalid-request', 'not-found'],
});

/** Failed sessions of an agent with the same cause. */
const SessionProblem = z
  .object({
    agentId: Uuid,
    agentName: z.string(),
    agentDeleted,
    completionStatus: z.string(),
    exceptionType: z.string().nullable().describe('The exception that the bot raised; null if it reported none'),
    failure: z
      .string()
      .nullable()
      .describe(
        'How the bot failed without an exception: a signal, STATUS_ and an exit status, OUT_OF_MEMORY, DISK_LIMIT, PLATFORM or ' +
          'START_FAILED; null if not known. Later versions may add others',
      ),
    cause: z.string().describe('What happened to the latest of the sessions'),
    next: z.string().describe('What to do'),
    count,
    firstAt: IsoDateTime,
    lastAt: IsoDateTime,
    latestSessionId: Uuid,
  })
  .meta({ id: 'SessionProblem' });
export type SessionProblem = z.infer<typeof SessionProblem>;

/** How many failed sessions `listSessionProblems` groups, the newest. */
export const maxGroupedSessions = 2_000;

export const listSessionProblems = defineOperation({
  ...requestWithoutBody,
  ...statisticsOperation,
  name: 'listSessionProblems',
  summary: 'List failed sessions of the last hour, day or week, grouped by agent and cause',
  path: '/problems',
  query: z.object({ period, agent }),
  response: z.object({
    problems: z.array(SessionProblem).describe('The most frequent first'),
    complete: z.boolean().describe(`False: only the newest ${maxGroupedSessions} failed sessions are counted`),
  }),
  errors: ['invalid-request', 'not-found'],
});
