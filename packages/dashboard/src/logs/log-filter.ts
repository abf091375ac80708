import type { LogLevel } from '@bothost/contract';
import { formatCloudCommand } from '../commands/shell-command.ts';
import { computePeriodStartSeconds } from '../components/period.ts';

/** The filter of the logs page, as stored in the page's URL. */
export type LogFilter = {
  readonly session?: string | undefined;
  readonly query?: string | undefined;
  /** Minimum log level of the shown lines. */
  readonly level?: LogLevel | undefined;
  /** A period that ends now, such as `15m`. Absent means no limit. */
  readonly since?: string | undefined;
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

/** Returns the query parameters of a `getLogs` request for a filter. The period of the filter ends at `nowMs`. */
export function createLogQuery({ session, query, level, since }: LogFilter, nowMs: number) {
  const startTime = computePeriodStartSeconds(since, nowMs);
  return {
    ...(session === undefined ? {} : { sessionId: session }),
    ...(query === undefined ? {} : { query }),
    ...(level === undefined ? {} : { level }),
    ...(startTime === undefined ? {} : { startTime }),
  };
}

/** Returns the `botcli` command that prints the same lines as the logs page. */
export function formatCliLogsCommand(
  organization: string,
  agent: string,
  filter: LogFilter,
  isFollowing: boolean,
): string {
  const { session, query, level, since } = filter;
  const options = Object.entries({ session, query, level, since }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
  return formatCloudCommand(organization, 'agent', 'logs', agent, ...options, ...(isFollowing ? ['--follow'] : []));
}
