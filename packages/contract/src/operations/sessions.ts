import { z } from 'zod';
import { editors, everyone } from '../authorization.ts';
import { maxListedSessions } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import {
  listStatusValues,
  type ServiceDefinedCompletionStatus,
  sessionCompletionStatusLabels,
  sessionEndStateLabels,
} from '../statuses.ts';
import {
  AgentPathParameters,
  agentDeleted,
  IsoDateTime,
  PagingParameters,
  requestWithoutBody,
  UnixSeconds,
  Uuid,
} from './fields.ts';
import { SessionEvent } from './session-events.ts';

/** A completion status that the bot chose in the body of its response. */
export const BotReportedStatus = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,63}$/)
  .brand('ReportedStatus');
type BotReportedStatus = z.infer<typeof BotReportedStatus>;

/** How a session ended: a status of the service, the HTTP status of the bot's response, or a status that the bot reported. */
export type SessionCompletionStatus = ServiceDefinedCompletionStatus | `${number}` | BotReportedStatus;

const MetricsSample = z
  .object({
    t: z.number().int().describe('Unix time in seconds'),
    c: z.number().int().describe('CPU in millicores'),
    m: z.number().int().describe('Memory in bytes'),
  })
  .meta({ id: 'MetricsSample' });

const millicores = z.number().int().describe('Millicores, nearest rank over all samples');
const bytes = z.number().int().describe('Bytes, nearest rank over all samples');

/** CPU and memory statistics of a session. Percentiles are computed by nearest rank over all samples. */
export const ResourceMetrics = z
  .object({
    id: Uuid,
    sessionId: Uuid,
    sampleCount: z.number().int(),
    cpuMillicoresP50: millicores,
    cpuMillicoresP90: millicores,
    cpuMillicoresP95: millicores,
    cpuMillicoresP99: millicores,
    memoryBytesP50: bytes,
    memoryBytesP90: bytes,
    memoryBytesP95: bytes,
    memoryBytesP99: bytes,
    timeseries: z.array(MetricsSample),
    eventTs: IsoDateTime.describe('Time of the latest sample'),
    createdAt: IsoDateTime,
  })
  .meta({ id: 'ResourceMetrics' });
export type ResourceMetrics = z.infer<typeof ResourceMetrics>;

const momentOfStart = z.number().nullable().default(null);

/** How long each phase of a start took, and when later moments were reached, in milliseconds. */
export const StartPhaseDurations = z
  .object({
    claim: z.number().describe('From the accepted request to the claim of an instance'),
    boot: z.number().describe('From the claim to the ready instance; near 0 for a warm start'),
    dispatch: z.number().describe('From the ready instance to the accepted session'),
    botCalled: momentOfStart.describe('From the request to the call of bot(); null if unknown'),
    transportConnected: momentOfStart.describe('From the request to the connected client; null if unknown'),
    firstFrame: momentOfStart.describe(
      'From the request to the first frame that the bot sent to the client; null if unknown',
    ),
  })
  .meta({ id: 'StartPhases' });
export type StartPhaseDurations = z.infer<typeof StartPhaseDurations>;

/** An end state that this version does not know. A newer service may send one, and clients show it as it is. */
const UnknownEndState = z
  .string()
  .refine((endState) => !Object.hasOwn(sessionEndStateLabels, endState))
  .brand('UnknownEndState')
  .describe('Later versions may add end states');

const summaryFields = {
  sessionId: Uuid,
  serviceId: Uuid.describe('Id of the agent'),
  organizationId: Uuid,
  deploymentId: Uuid,
  endedAt: IsoDateTime.nullable(),
  botStartSeconds: z.number().int().nullable().describe('Seconds from the start request to the bot start, rounded'),
  botStartMilliseconds: z
    .number()
    .int()
    .nullable()
    .default(null)
    .describe('Milliseconds from the start request to the bot start'),
  coldStart: z.boolean().nullable(),
  completionStatus: z
    .string()
    .nullable()
    .describe(
      `${listStatusValues(sessionCompletionStatusLabels).join(', ')}, an HTTP status as a string, or a word of the bot`,
    ),
  createdAt: IsoDateTime,
  updatedAt: IsoDateTime,
  endState: z.union([z.enum(listStatusValues(sessionEndStateLabels)), UnknownEndState]),
};

const count = z.number().int();

/** Numbers of an ended session's conversation. */
export const ListedConversation = z
  .object({
    responseP50Ms: count.nullable().describe('Median response time in milliseconds; null without a response'),
    responseP95Ms: count.nullable(),
    interruptions: count,
    errors: count,
  })
  .meta({ id: 'ListedConversation' });
export type ListedConversation = z.infer<typeof ListedConversation>;

const listedFields = {
  ...summaryFields,
  conversation: ListedConversation.nullish().describe(
    'Null while the session runs, and if the bot wrote no conversation',
  ),
};

/** Filters by the numbers of conversations. A session without numbers matches none of them. */
const conversationFilters = {
  responseTimeMin: z.coerce
    .number<number>()
    .int()
    .min(1)
    .max(100_000_000)
    .optional()
    .describe('Only ended sessions whose 95th percentile of response times is at least this many milliseconds'),
  interruptionsMin: z.coerce
    .number<number>()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Only ended sessions with at least this many interruptions of the bot'),
  errorsMin: z.coerce
    .number<number>()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Only ended sessions whose bot reported at least this many errors'),
};

export const SessionSummary = z.object(listedFields).meta({ id: 'SessionSummary' });
export type SessionSummary = z.infer<typeof SessionSummary>;

/** In a response, every field is present. A field whose value is not known yet is null. */
export const SessionResponse = z
  .object({
    ...summaryFields,
    resourceMetrics: ResourceMetrics.nullable(),
    readsUsage: z
      .boolean()
      .default(true)
      .describe('False: there are no metrics, because the region does not record the CPU and memory of sessions'),
    meetingIds: z.array(z.object({ participantId: z.string(), meetingId: z.string() })),
    events: z.array(SessionEvent),
    startPhases: StartPhaseDurations.nullable(),
  })
  .meta({ id: 'SessionResponse' });
export type SessionResponse = z.infer<typeof SessionResponse>;

export const SessionPath = AgentPathParameters.extend({
  sessionId: z.string().describe('Id of the session, a UUID').meta({ format: 'uuid' }),
});

const sessionOperation = { tag: 'sessions', key: 'private' } as const;

export const getSession = defineOperation({
  ...requestWithoutBody,
  ...sessionOperation,
  name: 'getSession',
  summary: 'Get a session, with its resource metrics',
  grantees: everyone,
  path: '/agents/{agentName}/sessions/{sessionId}',
  params: SessionPath,
  response: SessionResponse,
  errors: ['not-found'],
});

/** Unix time in seconds, up to the end of the year 9999, because the database accepts no later times. */
const unixSeconds = z.coerce
  .number<number>()
  .int()
  .min(0)
  .max(253_402_300_799)
  .describe('Unix time in seconds')
  .optional();

export const getSessions = defineOperation({
  ...requestWithoutBody,
  ...sessionOperation,
  name: 'getSessions',
  summary: 'List the sessions of an agent, newest first',
  grantees: everyone,
  path: '/agents/{agentName}/sessions',
  params: AgentPathParameters,
  query: z.object({
    ...PagingParameters,
    deploymentId: Uuid.optional(),
    startTime: unixSeconds,
    endTime: unixSeconds,
    status: z.enum(['active', 'ended', 'all']).default('all'),
    startType: z.enum(['cold', 'warm', 'all']).default('all'),
    startTimeMin: z.coerce.number<number>().min(0).default(0).describe('Minimum bot start time in seconds'),
    startTimeMax: z.coerce
      .number<number>()
      .min(0)
      .default(0)
      .describe('Maximum bot start time in seconds; 0: no limit'),
    ...conversationFilters,
    endState: z.string().optional().describe('An end state; any other value matches nothing'),
  }),
  response: z.object({
    total_count: z.number().int(),
    sessions: z.array(SessionSummary),
    nextCursor: z.string().nullable(),
  }),
  errors: ['invalid-request', 'not-found'],
});

export const OrganizationSession = z
  .object({ ...listedFields, agentName: z.string(), agentDeleted })
  .meta({ id: 'OrganizationSession' });
export type OrganizationSession = z.infer<typeof OrganizationSession>;

const durationSeconds = z.coerce.number<number>().min(0).max(1_000_000_000).optional();

export const listOrganizationSessions = defineOperation({
  ...requestWithoutBody,
  ...sessionOperation,
  name: 'listOrganizationSessions',
  summary: 'List the sessions of all agents, newest first',
  grantees: everyone,
  path: '/sessions',
  query: z.object({
    ...PagingParameters,
    offset: z.coerce.number<number>().int().min(0).max(maxListedSessions).default(0),
    agent: z.string().optional().describe('Name or id of an agent; any other value matches nothing'),
    sessionId: Uuid.optional(),
    deploymentId: Uuid.optional(),
    status: z
      .enum(['active', 'ended', 'failed', 'all'])
      .default('all')
      .describe('failed: ended sessions, except if no client connected or somebody stopped them'),
    completionStatus: z.string().max(64).optional(),
    exceptionType: z
      .string()
      .max(200)
      .optional()
      .describe('Only sessions whose bot raised this exception; empty: only sessions whose bot reported none'),
    failure: z
      .string()
      .max(64)
      .optional()
      .describe(
        'Only sessions whose bot failed in this way, as in a problem; empty: only sessions without a known way',
      ),
    ...conversationFilters,
    endState: z.string().optional().describe('End states, separated by commas; any other value matches nothing'),
    startTime: UnixSeconds.describe('Only sessions created at or after this Unix time in seconds, fractions allowed'),
    endTime: UnixSeconds.describe('Only sessions created at or before this Unix time in seconds, fractions allowed'),
    durationMin: durationSeconds.describe('Only sessions that took, or have taken so far, at least this many seconds'),
    durationMax: durationSeconds.describe('Only sessions that took, or have taken so far, at most this many seconds'),
  }),
  response: z.object({
    total: z
      .object({ value: z.number().int(), relation: z.enum(['eq', 'gte']) })
      .describe(`Matching sessions; gte: counting stopped at ${maxListedSessions}, and there may be more`),
    sessions: z.array(OrganizationSession),
    nextCursor: z.string().nullable(),
  }),
  errors: ['invalid-request'],
});

/** Responds immediately; the session then ends with `SESSION_STOPPED`. */
export const stopSession = defineOperation({
  ...requestWithoutBody,
  ...sessionOperation,
  name: 'stopSession',
  summary: 'Stop a session',
  audit: 'sessions.stop',
  grantees: editors,
  method: 'DELETE',
  path: '/agents/{agentName}/sessions/{sessionId}',
  params: SessionPath,
  response: z.object({ status: z.literal('terminated'), session_id: Uuid }),
  errors: ['not-found'],
});
