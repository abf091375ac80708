import { queryOptions } from '@tanstack/react-query';
import { liveQueryOptions, pollIntervalMs } from '../live-query.ts';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';
import { createSessionQuery, type SessionFilter } from './session-filter.ts';

export const sessionsPerPage = 100;

export function createSessionsQueryKey(organization: string): readonly unknown[] {
  return [...createOrganizationQueryKey(organization), 'sessions'];
}

/** Reads the newest sessions that match a filter, and reads them again every two seconds. */
export function newestSessionsQuery(organization: string, filter: SessionFilter) {
  return queryOptions({
    queryKey: [...createSessionsQueryKey(organization), filter, 'newest'],
    queryFn: ({ signal }) => {
      const query = { ...createSessionQuery(filter, Date.now()), limit: sessionsPerPage };
      return getOrganizationApi(organization).listOrganizationSessions({ query }, signal);
    },
    refetchInterval: pollIntervalMs,
    ...liveQueryOptions,
  });
}

/** Reads one page of the sessions that were created until `endTime`. */
export function sessionPageQuery(
  organization: string,
  filter: SessionFilter,
  endTime: string | undefined,
  page: number,
) {
  return queryOptions({
    queryKey: [...createSessionsQueryKey(organization), filter, endTime, page],
    queryFn: ({ signal }) => {
      const query = {
        ...createSessionQuery(filter, Date.now()),
        ...(endTime === undefined ? {} : { endTime: Date.parse(endTime) / 1000 }),
        offset: page * sessionsPerPage,
        limit: sessionsPerPage,
      };
      return getOrganizationApi(organization).listOrganizationSessions({ query }, signal);
    },
    refetchInterval: pollIntervalMs,
    ...liveQueryOptions,
  });
}

/** Finds the agent of a session, whose name is part of the address of the record. The data is null if the session does not exist. */
export function sessionQuery(organization: string, sessionId: string) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'session', sessionId],
    queryFn: async ({ signal }) => {
      const query = { sessionId, limit: 1 };
      const { sessions } = await getOrganizationApi(organization).listOrganizationSessions({ query }, signal);
      return sessions[0] ?? null;
    },
    staleTime: Number.POSITIVE_INFINITY,
    ...liveQueryOptions,
  });
}

export function sessionRecordQuery(organization: string, agentId: string, sessionId: string) {
  return queryOptions({
    queryKey: [...createSessionsQueryKey(organization), sessionId, 'record'],
    queryFn: ({ signal }) =>
      getOrganizationApi(organization).getSession({ params: { agentName: agentId, sessionId } }, signal),
    refetchInterval: ({ state }) => (state.data?.endedAt == null ? pollIntervalMs : false),
    ...liveQueryOptions,
  });
}
