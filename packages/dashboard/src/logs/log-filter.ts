import type { LogLevel } from '@bothost/contract';
import { cloudCommand } from '../commands/shell-command.ts';
import { periodSeconds } from '../components/period.ts';

/** Which lines are shown, as in the address of the page of the logs. */
export type LogFilter = {
  readonly session?: string | undefined;
  readonly query?: string | undefined;
  /** Minimum level. */
  readonly level?: LogLevel | undefined;
  /** A period until now, such as `15m`. Absent: no limit. */
  readonly since?: string | undefined;
};

/** The search part of the address: the agent, the filter, and the time of the last visible line. Without a time, the log is followed. */
export type LogSearch = LogFilter & {
  readonly agent?: string | undefined;
  /** Unix time in seconds. */
  readonly at?: number | undefined;
};

/** Returns the `getLogs` query for a filter that is applied at the time `nowMs`. */
export function logQuery({ session, query, level, since }: LogFilter, nowMs: number) {
  const seconds = periodSeconds(since);
  return {
    ...(session === undefined ? {} : { sessionId: session }),
    ...(query === undefined ? {} : { query }),
    ...(level === undefined ? {} : { level }),
    ...(seconds === undefined ? {} : { startTime: nowMs / 1000 - seconds }),
  };
}

/** The command that prints the same lines. */
export function logCommand(organization: string, agent: string, filter: LogFilter, isFollowing: boolean): string {
  const { session, query, level, since } = filter;
  const options = Object.entries({ session, query, level, since }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
  return cloudCommand(organization, 'agent', 'logs', agent, ...options, ...(isFollowing ? ['--follow'] : []));
}
