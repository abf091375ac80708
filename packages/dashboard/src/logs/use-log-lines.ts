import type { LogLine, Operations, RequestOf } from '@bothost/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { liveOptions } from '../live-query.ts';
import { organizationApi, organizationKey } from '../organization/organization.ts';
import { secondsOf } from './log-time.ts';

const linesPerPage = 1_000;
/** Who scrolls back reads on. Fewer requests are faster, because each one searches the log. */
const olderLinesPerPage = 5_000;
/** How long a request waits for new lines. */
const waitSeconds = 20;

type LogQuery = Partial<RequestOf<Operations['getLogs']>['query']>;

export type LogSource = {
  readonly organization: string;
  /** Name or id. */
  readonly agent: string;
  /** Identifies the lines. `query` may contain the time, which changes with each request. */
  readonly key: readonly unknown[];
  readonly query: () => LogQuery;
  /** Unix time in seconds of the last line at first. Absent: the newest line. */
  readonly startAt?: number | undefined;
};

type Page = {
  /** Oldest first. */
  readonly lines: readonly LogLine[];
  readonly older: LogQuery | null;
  readonly newer: LogQuery | null;
  readonly isMaskingIncomplete: boolean;
};

/** Reads a log from its end or from a time on, then older and newer pages. A newer page waits until there are lines. */
export function useLogLines({ organization, agent, key, query, startAt }: LogSource) {
  const pages = useInfiniteQuery({
    queryKey: [...organizationKey(organization), 'logs', agent, key, startAt],
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const request = { ...query(), limit: linesPerPage, ...pageParam };
      const page = await organizationApi(organization).getLogs(
        { params: { agentName: agent }, query: request },
        signal,
      );
      const isMaskingIncomplete = page.maskingIncomplete === true;
      const after = (cursor: string | null) =>
        cursor === null ? null : ({ order: 'asc', cursor, wait: waitSeconds } as const);
      if (request.order === 'asc') {
        // The page before this one, which was read by time, ends with the lines of this microsecond.
        const isOverlapping = pageParam.startTime !== undefined && startAt !== undefined;
        const lines = isOverlapping ? page.logs.filter((line) => secondsOf(line.timestamp) > startAt) : page.logs;
        return { lines, older: null, newer: after(page.nextCursor), isMaskingIncomplete };
      }
      return {
        lines: page.logs.toReversed(),
        older: page.nextCursor === null ? null : { order: 'desc', cursor: page.nextCursor, limit: olderLinesPerPage },
        newer:
          startAt === undefined ? after(page.followCursor) : { order: 'asc', startTime: startAt, wait: waitSeconds },
        isMaskingIncomplete,
      };
    },
    // Half a microsecond more, because the service rounds down and numbers are inexact.
    initialPageParam: (startAt === undefined
      ? { order: 'desc' }
      : { order: 'desc', endTime: startAt + 5e-7 }) as LogQuery,
    getPreviousPageParam: ({ older }) => older,
    getNextPageParam: ({ newer }) => newer,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    // Lines never change. Sharing would compare all of them with every new page, and copy lines that moved to another index.
    structuralSharing: false,
    ...liveOptions,
  });
  const lines = useMemo(() => pages.data?.pages.flatMap((page) => page.lines) ?? [], [pages.data]);
  return { pages, lines, isMaskingIncomplete: pages.data?.pages.some((page) => page.isMaskingIncomplete) === true };
}
