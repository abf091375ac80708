import type { ApiClient, OrganizationSession } from '@bothost/contract';
import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { sessionPageQuery, sessionsPerPage } from './queries.ts';
import type { SessionFilter } from './session-filter.ts';

export type NewestSessionList = Awaited<ReturnType<ApiClient['listOrganizationSessions']>>;

/**
 * Returns the list that the page shows. While the page is scrolled to the top, this is always the newest list. Further down, the
 * list stays the same, because new sessions would move the rows that the person reads. `newerCount` is the number of sessions
 * that are newer than this list.
 */
export function useScrollAnchoredSessionList(newest: NewestSessionList, isAtTop: boolean) {
  const [kept, setKept] = useState<NewestSessionList | null>(null);
  if (isAtTop && kept !== null) setKept(null);
  if (!isAtTop && kept === null) setKept(newest);
  const list = (isAtTop ? null : kept) ?? newest;
  const [first] = list.sessions;
  const newer = newest.sessions.filter(({ createdAt }) => first === undefined || createdAt > first.createdAt);
  return { list, newerCount: newer.length };
}

/**
 * Returns the number of rows of a list, and a function that reports an end of the list that its pages show. The list can get
 * shorter after its sessions were counted, because sessions leave the filter (their period passes, or they end) or are deleted.
 */
export function useRowCount(list: NewestSessionList) {
  const [known, setKnown] = useState({ list, end: list.total.value });
  const rowCount = known.list === list ? known.end : list.total.value;
  const reportEnd = (end: number) => {
    if (end < rowCount) setKnown({ list, end });
  };
  return { rowCount, reportEnd };
}

/**
 * Fetches the pages of the list that contain the visible rows. Returns a function that maps a row to its session, or to undefined
 * while its page is being fetched, and the end of the list if one of the pages contains it.
 */
export function useSessionRows(
  organization: string,
  filter: SessionFilter,
  { list, isAtTop }: { readonly list: NewestSessionList; readonly isAtTop: boolean },
  rows: readonly number[],
) {
  const endTime = list.sessions[0]?.createdAt;
  const pages = [...new Set(rows.map((row) => Math.floor(row / sessionsPerPage)))];
  const results = useQueries({
    queries: pages.map((page) => ({
      ...sessionPageQuery(organization, filter, endTime, page),
      // Skip the first page while the list is scrolled to the top: `newestSessionsQuery` reads it.
      enabled: page > 0 || !isAtTop,
    })),
  });
  const pageData = (page: number) => (page === 0 && isAtTop ? list : results[pages.indexOf(page)]?.data);
  const sessionAt = (row: number): OrganizationSession | undefined => {
    const page = pageData(Math.floor(row / sessionsPerPage));
    return page === undefined ? list.sessions[row] : page.sessions[row % sessionsPerPage];
  };
  const ends = pages.map((page) => {
    const count = pageData(page)?.sessions.length ?? sessionsPerPage;
    return count < sessionsPerPage ? page * sessionsPerPage + count : Number.POSITIVE_INFINITY;
  });
  return { sessionAt, end: Math.min(...ends) };
}
