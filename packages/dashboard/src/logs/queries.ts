import type { LogLine, Operations, RequestOf } from '@bothost/contract';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { liveQueryOptions } from '../live-query.ts';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';
import { organizationQuery } from '../organization/queries.ts';
import { chooseRefreshMs } from './histogram.ts';
import { createLogQuery, type LogFilter } from './log-filter.ts';
import { getReadTime } from './log-time.ts';

const linesPerPage = 1_000;
/** Few large pages are faster than many small ones, because each request searches the log again. */
const olderLinesPerPage = 5_000;
/** Maximum time that the service holds a request open until new lines arrive (long polling). */
const waitSeconds = 20;

type LogQuery = Partial<RequestOf<Operations['getLogs']>['query']>;

/** A line with the name of its agent, which is missing in the log of a single agent. */
export type ListedLogLine = LogLine & { readonly agentName?: string };

type Page = {
  /** The lines of this page, oldest first. */
  readonly lines: readonly ListedLogLine[];
  readonly older: LogQuery | null;
  readonly newer: LogQuery | null;
  readonly isMaskingIncomplete: boolean;
  /** Whether lines were left out because the caller is a viewer. */
  readonly isHiddenByRole: boolean;
};

function readLogPage(organization: string, agent: string | undefined, query: LogQuery, signal?: AbortSignal) {
  const api = getOrganizationApi(organization);
  if (agent === undefined) return api.listOrganizationLogs({ query }, signal);
  return api.getLogs({ params: { agentName: agent }, query }, signal);
}

/** Counts the lines that match a selection over time. */
export function logHistogramQuery(organization: string, agent: string | undefined, selection: LogFilter) {
  return queryOptions({
    ...organizationQuery(organization, ['log histogram', agent, selection], (api, signal) =>
      api.getLogHistogram({ query: { agent, ...createLogQuery(selection, Date.now()) } }, signal),
    ),
    refetchInterval: ({ state }) => (selection.to === undefined ? chooseRefreshMs(state.data) : false),
  });
}

/** The largest number of lines in a downloaded log, the oldest that match. */
const downloadedLines = 100_000;

/** Reads the lines that match a selection, oldest first, and returns them as text. The last line says if there are more lines. */
export async function createLogText(
  organization: string,
  agent: string | undefined,
  selection: LogFilter,
): Promise<string> {
  const lines: ListedLogLine[] = [];
  const query = { ...createLogQuery(selection, Date.now()), order: 'asc', limit: olderLinesPerPage } as const;
  let cursor: string | undefined;
  for (;;) {
    const page = await readLogPage(organization, agent, { ...query, cursor });
    lines.push(...page.logs);
    // A page without lines ends the log unless the service stopped at a limit of one request.
    const isEmpty = page.logs.length === 0 && page.total.relation === 'eq';
    if (page.nextCursor === null || isEmpty || lines.length > downloadedLines) break;
    cursor = page.nextCursor;
  }
  const texts = lines
    .slice(0, downloadedLines)
    .map(({ agentName, log }) => `${agentName === undefined ? '' : `${agentName}: `}${log}\n`);
  const next = lines[downloadedLines];
  if (next !== undefined) {
    const count = downloadedLines.toLocaleString('en');
    texts.push(
      `(The download ends here, after ${count} lines. Select a later time for those from ${next.timestamp} on.)\n`,
    );
  }
  return texts.join('');
}

/**
 * Reads the page of a log that ends at `startAt` or, if `startAt` is undefined, with the newest line. Then reads older and newer
 * pages on demand. A request for a newer page waits until new lines arrive. `agent` is a name or an id; undefined reads the lines of
 * all agents. `startAt` is a Unix time in seconds.
 */
export function logQuery(organization: string, agent: string | undefined, selection: LogFilter, startAt?: number) {
  return infiniteQueryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'logs', agent, selection, startAt],
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const query = { ...createLogQuery(selection, Date.now()), limit: linesPerPage, ...pageParam };
      const page = await readLogPage(organization, agent, query, signal);
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
