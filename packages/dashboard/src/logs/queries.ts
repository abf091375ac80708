import type { LogLine, Operations, RequestOf } from '@bothost/contract';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { liveQueryOptions } from '../live-query.ts';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';
import { createLogQuery, type LogSelection } from './log-filter.ts';
import { getReadTime } from './log-time.ts';

const linesPerPage = 1_000;
/** Few large pages are faster than many small ones, because each request searches the log again. */
const olderLinesPerPage = 5_000;
/** Maximum time that the service holds a request open until new lines arrive (long polling). */
const waitSeconds = 20;

type LogQuery = Partial<RequestOf<Operations['getLogs']>['query']>;

type Page = {
  /** The lines of this page, oldest first. */
  readonly lines: readonly LogLine[];
  readonly older: LogQuery | null;
  readonly newer: LogQuery | null;
  readonly isMaskingIncomplete: boolean;
  /** Whether lines were left out because the caller is a viewer. */
  readonly isHiddenByRole: boolean;
};

/**
 * Reads the page of an agent's log that ends at `startAt` or, if `startAt` is undefined, with the newest line. Then reads older
 * and newer pages on demand. A request for a newer page waits until new lines arrive. `agent` is a name or an id, and `startAt` a
 * Unix time in seconds.
 */
export function agentLogQuery(organization: string, agent: string, selection: LogSelection, startAt?: number) {
  return infiniteQueryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'logs', agent, selection, startAt],
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const query = { ...createLogQuery(selection, Date.now()), limit: linesPerPage, ...pageParam };
      const page = await getOrganizationApi(organization).getLogs({ params: { agentName: agent }, query }, signal);
      const notices = {
        isMaskingIncomplete: page.maskingIncomplete === true,
        isHiddenByRole: page.hiddenByRole === true,
      };
      const after = (cursor: string | null) =>
        cursor === null ? null : ({ order: 'asc', cursor, wait: waitSeconds } as const);
      if (query.order === 'asc') {
        // Omit the lines at the microsecond `startAt`, which the first page already contains.
        const isOverlapping = pageParam.startTime !== undefined && startAt !== undefined;
        const lines = isOverlapping ? page.logs.filter((line) => getReadTime(line) > startAt) : page.logs;
        return { lines, older: null, newer: after(page.nextCursor), ...notices };
      }
      return {
        lines: page.logs.toReversed(),
        older: page.nextCursor === null ? null : { order: 'desc', cursor: page.nextCursor, limit: olderLinesPerPage },
        newer:
          startAt === undefined ? after(page.followCursor) : { order: 'asc', startTime: startAt, wait: waitSeconds },
        ...notices,
      };
    },
    // Add half a microsecond, because the service rounds the time down and floating-point numbers are inexact.
    initialPageParam: (startAt === undefined
      ? { order: 'desc' }
      : { order: 'desc', endTime: startAt + 5e-7 }) as LogQuery,
    getPreviousPageParam: ({ older }) => older,
    getNextPageParam: ({ newer }) => newer,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    // Disable structural sharing: log lines never change, and comparing all lines after each new page would be slow.
    structuralSharing: false,
    ...liveQueryOptions,
  });
}
