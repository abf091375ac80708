import type { UseQueryResult } from '@tanstack/react-query';
import { LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { describeError } from '../api.ts';
import { Alert } from './alert.tsx';
import { Button } from './button.tsx';

type QueryBoundaryProps<Data> = {
  readonly query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch' | 'isFetching'>;
  readonly children: (data: Data) => ReactNode;
};

/** Shows the data of a query. Until the data has arrived, shows a progress indicator or the query's error. */
export function QueryBoundary<Data>({ query, children }: QueryBoundaryProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error === null) return <Loading />;
  return (
    <div className="flex flex-col items-start gap-4 px-5 py-5 sm:px-6">
      <Alert>{describeError(query.error)}</Alert>
      <Button variant="outline" onClick={() => void query.refetch()} disabled={query.isFetching}>
        Try again
      </Button>
    </div>
  );
}

function Loading() {
  return (
    <p role="status" className="flex items-center justify-center gap-2 px-6 py-12 text-quiet text-sm">
      <LoaderCircle aria-hidden="true" className="size-4 animate-spin" />
      Loading…
    </p>
  );
}
