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
 * Fetches the pages of the list that contain the visible rows. Returns a function that maps a row to its session, or to undefined
 * while its page is being fetched.
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
  return (row: number): OrganizationSession | undefined => {
    const page = results[pages.indexOf(Math.floor(row / sessionsPerPage))]?.data;
    if (page === undefined || (isAtTop && row < sessionsPerPage)) return list.sessions[row];
    return page.sessions[row % sessionsPerPage];
  };
}
