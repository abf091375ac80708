import { type Operations, type RequestOf, sessionEndStateLabels } from '@bothost/contract';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { computePeriodStartSeconds } from '../components/period.ts';
import { readNumberParameters, readTextParameters } from '../routing/search-values.ts';
import { parseProblemKey } from '../statistics/problem-key.ts';

/** The filter of the sessions page, as stored in the page's URL. */
export type SessionFilter = {
  readonly agent?: string | undefined;
  /** The selected status: `active`, `ended`, `failed`, or an end state such as `terminated`. */
  readonly status?: string | undefined;
  /** A period that ends now, such as `15m`. Absent means no limit. */
  readonly since?: string | undefined;
  /** The beginning and the end of another period, in Unix seconds. Sessions created at the end do not match. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** A range of durations in seconds, such as `10-60`, `-10` (at most 10) or `600-` (at least 600). */
  readonly duration?: string | undefined;
  /** A property of the conversation: a key of `conversationQueries`. */
  readonly conversation?: string | undefined;
  /** A problem as `statistics/problem-key.ts` formats it. */
  readonly problem?: string | undefined;
  readonly deployment?: string | undefined;
};

const textParameters = ['agent', 'status', 'since', 'duration', 'conversation', 'problem', 'deployment'] as const;

export function parseSessionFilter(search: Readonly<Record<string, unknown>>): SessionFilter {
  const { from, to } = readNumberParameters(search, ['from', 'to']);
  return { ...readTextParameters(search, textParameters), from: checkTime(from), to: checkTime(to) };
}

/** Later times are rejected by the service. */
const maxUnixSeconds = 253_402_300_799;

function checkTime(seconds = -1): number | undefined {
  return seconds > 0 && seconds <= maxUnixSeconds ? seconds : undefined;
}

type SessionQuery = Partial<RequestOf<Operations['listOrganizationSessions']>['query']>;

export const statusOptions: readonly (readonly [string, string])[] = [
  ['', 'Any status'],
  ['active', 'Active'],
  ['ended', 'Ended'],
  ['failed', 'Failed'],
  ...Object.entries(sessionEndStateLabels).filter(([state]) => state !== 'active'),
];

export const durationOptions = [
  ['', 'Any duration'],
  ['-10', 'Up to 10 seconds'],
  ['10-60', '10 seconds to 1 minute'],
  ['60-600', '1 to 10 minutes'],
  ['600-', '10 minutes or more'],
] as const;

const conversationQueries: Readonly<Record<string, SessionQuery>> = {
  'slow-1s': { responseTimeMin: 1_000 },
  'slow-2s': { responseTimeMin: 2_000 },
  'slow-5s': { responseTimeMin: 5_000 },
  errors: { errorsMin: 1 },
  interruptions: { interruptionsMin: 1 },
};

export const conversationOptions = [
  ['', 'Any'],
  ['slow-1s', 'Slow: p95 from 1 s'],
  ['slow-2s', 'Slow: p95 from 2 s'],
  ['slow-5s', 'Slow: p95 from 5 s'],
  ['errors', 'With errors'],
  ['interruptions', 'With interruptions'],
] as const;

/** Returns the query for a filter that is applied at the time `nowMs`. Ignores invalid parts of the filter. */
export function createSessionQuery(filter: SessionFilter, nowMs: number): SessionQuery {
  const { agent, status, since, from, to, duration, conversation = '', problem, deployment } = filter;
  const startTime = computePeriodStartSeconds(since, nowMs);
  const [, least, greatest] = /^(\d{0,9})-(\d{0,9})$/.exec(duration ?? '') ?? [];
  return {
    ...(agent === undefined ? {} : { agent }),
    ...statusQuery(status),
    ...(problem === undefined ? {} : parseProblemKey(problem)),
    ...(deployment === undefined ? {} : { deploymentId: deployment }),
    ...(startTime === undefined ? {} : { startTime: Math.floor(startTime) }),
    ...(from === undefined ? {} : { startTime: from }),
    // The service includes the end, and stores times in milliseconds.
    ...(to === undefined ? {} : { endTime: to - 0.001 }),
    ...(least ? { durationMin: Number(least) } : {}),
    ...(greatest ? { durationMax: Number(greatest) } : {}),
    ...(Object.hasOwn(conversationQueries, conversation) ? conversationQueries[conversation] : {}),
  };
}

function statusQuery(status: string | undefined): SessionQuery {
  if (status === 'active' || status === 'ended' || status === 'failed') return { status };
  return status === undefined ? {} : { endState: status };
}

/**
 * Returns a shell command that lists the sessions that match a filter. If the filter consists of an agent and optionally a
 * status other than `failed`, returns a `botcli` command. Otherwise, returns a `curl` command.
 */
export function createSessionListShellCommand(
  origin: string,
  organization: string,
  filter: SessionFilter,
  nowMs: number,
): string {
  const { agent, status, endState, ...others } = createSessionQuery(filter, nowMs);
  if (agent === undefined || Object.keys(others).length > 0 || filter.status === 'failed') {
    const query = { agent, status, endState, ...others, limit: 100 };
    return formatCurlCommand('listOrganizationSessions', { origin, organization, query });
  }
  return botcliCommands.listSessions(organization, agent, { status, 'end-state': endState });
}
