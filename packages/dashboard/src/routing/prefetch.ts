import type { FetchInfiniteQueryOptions, FetchQueryOptions, QueryClient, QueryKey } from '@tanstack/react-query';

/** The arguments of a route's loader. `cause` is `preload` when a person only points at a link to the page. */
export type Loading = {
  readonly context: { readonly queries: QueryClient };
  readonly cause: 'preload' | 'enter' | 'stay';
};

/**
 * Starts the queries of a page when a person opens it, in parallel with each other and with the download of the page's code.
 * Pages show the progress and the errors of their queries, so loaders do not wait for them. Pointing at a link starts nothing,
 * because the audit log records who reads secrets and keys.
 */
export function prefetch(
  { context, cause }: Loading,
  ...pageQueries: readonly { readonly queryKey: QueryKey }[]
): void {
  if (cause !== 'enter') return;
  for (const query of pageQueries) {
    if ('initialPageParam' in query) void context.queries.prefetchInfiniteQuery(query as FetchInfiniteQueryOptions);
    else void context.queries.prefetchQuery(query as FetchQueryOptions);
  }
}

/** Starts a query, and then the queries that need its result, while the code of the page is still loading. */
export function prefetchInOrder<Data, Key extends QueryKey>(
  loading: Loading,
  first: FetchQueryOptions<Data, Error, Data, Key>,
  listNext: (data: Data) => readonly { readonly queryKey: QueryKey }[],
): void {
  if (loading.cause !== 'enter') return;
  loading.context.queries.fetchQuery(first).then(
    (data) => prefetch(loading, ...listNext(data)),
    // The page shows the error.
    () => undefined,
  );
}
