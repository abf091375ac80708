import { type LogLevel, logLevels } from '@bothost/contract';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { formatCurlCommand } from '../commands/shell-command.ts';
import { computePeriodStartSeconds } from '../components/period.ts';
import { readNumberParameters, readTextParameters } from '../routing/search-values.ts';

/** The filter of the logs page, as stored in the page's URL. */
export type LogFilter = {
  readonly session?: string | undefined;
  readonly query?: string | undefined;
  /** Minimum log level of the shown lines. */
  readonly level?: LogLevel | undefined;
  /** A period that ends now, such as `15m`. Absent means no limit. */
  readonly since?: string | undefined;
  /** A range of Unix times in seconds, instead of a period. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
};

/**
 * The search parameters of the logs page: the agent, the filter, and the time of the last visible line (`at`). Without `at`, the
 * page follows new lines.
 */
export type LogSearchParameters = LogFilter & {
  readonly agent?: string | undefined;
  /** Time of the last visible line, in Unix seconds. */
  readonly at?: number | undefined;
};

export function parseLogSearchParameters(search: Readonly<Record<string, unknown>>): LogSearchParameters {
  return {
    ...readTextParameters(search, ['agent', 'session', 'query', 'since']),
    ...readNumberParameters(search, ['from', 'to', 'at']),
    level: logLevels.find((known) => known === search['level']),
  };
}

/** Returns the query parameters of a `getLogs` request. The period of the filter ends at `nowMs`. */
export function createLogQuery({ session, query, level, since, from, to }: LogFilter, nowMs: number) {
  const startTime = from ?? computePeriodStartSeconds(since, nowMs);
  return { sessionId: session, query, level, startTime, endTime: to };
}

/** Returns the shell command that prints the same lines as the logs page: that of `botcli` if it has all options. */
export function formatLogsCommand(
  organization: string,
  agent: string | undefined,
  filter: LogFilter,
  isFollowing: boolean,
): string {
  const { session, query, level, since, from, to } = filter;
  if (agent !== undefined && from === undefined && to === undefined) {
    return botcliCommands.readLogs(organization, agent, { session, query, level, since }, isFollowing);
  }
  const request = { origin: location.origin, organization, query: createLogQuery(filter, Date.now()) };
  return agent === undefined
    ? formatCurlCommand('listOrganizationLogs', request)
    : formatCurlCommand('getLogs', { ...request, params: { agentName: agent } });
}
