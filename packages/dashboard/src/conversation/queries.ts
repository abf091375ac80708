import { infiniteQueryOptions, queryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { liveQueryOptions, pollIntervalMs } from '../live-query.ts';
import { toUnixSeconds } from '../logs/log-time.ts';
import { createOrganizationQueryKey, getOrganizationApi } from '../organization/organization.ts';
import { createConversation } from './conversation.ts';

const linesPerPage = 10_000;
/** Maximum time that the service holds a request open until new lines arrive (long polling). */
const waitSeconds = 20;

/**
 * Reads the conversation of a session from its beginning. While the session runs, a request for the next page waits until the bot
 * has written new lines. `agent` is a name or an id.
 */
export function conversationQuery(organization: string, agent: string, sessionId: string) {
  return infiniteQueryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'conversation', sessionId],
    queryFn: ({ pageParam, signal }) =>
      getOrganizationApi(organization).getSessionConversation(
        {
          params: { agentName: agent, sessionId },
          query:
            pageParam === null
              ? { limit: linesPerPage }
              : { limit: linesPerPage, cursor: pageParam, wait: waitSeconds },
        },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    // Disable structural sharing: lines never change, and comparing all lines after each new page would be slow.
    structuralSharing: false,
    ...liveQueryOptions,
  });
}

/** Reads a conversation, and all its following pages as they appear. */
export function useConversation(query: ReturnType<typeof conversationQuery>) {
  const pages = useInfiniteQuery(query);
  const { hasNextPage, isFetching, isError, fetchNextPage } = pages;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
  const conversation = useMemo(
    () => createConversation(pages.data?.pages.flatMap(({ lines }) => lines) ?? []),
    [pages.data],
  );
  return { pages, conversation, latest: pages.data?.pages.at(-1) };
}

const logLinesPerTurn = 200;
/** The service filters lines by the time at which it read them, which is at most this much later than the time of the line. */
const readDelaySeconds = 2;

/**
 * Reads the lines that a bot wrote to its log from `from` to `to`, in Unix seconds. If `to` is null, the period has not ended, and
 * the lines are read again every two seconds.
 */
export function turnLogQuery(organization: string, agent: string, sessionId: string, from: number, to: number | null) {
  return queryOptions({
    queryKey: [...createOrganizationQueryKey(organization), 'turn log', sessionId, from, to],
    queryFn: async ({ signal }) => {
      const query = {
        sessionId,
        startTime: from,
        ...(to === null ? {} : { endTime: to + readDelaySeconds }),
        order: 'asc',
        limit: logLinesPerTurn,
      } as const;
      const page = await getOrganizationApi(organization).getLogs({ params: { agentName: agent }, query }, signal);
      const lines = page.logs.filter(({ timestamp }) => {
        const at = toUnixSeconds(timestamp);
        return at >= from && (to === null || at < to);
      });
      return { lines, hasMore: page.logs.length === logLinesPerTurn && page.nextCursor !== null };
    },
    ...(to === null ? { refetchInterval: pollIntervalMs } : { staleTime: Number.POSITIVE_INFINITY }),
    ...liveQueryOptions,
  });
}
