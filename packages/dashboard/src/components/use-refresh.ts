import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useNotice } from './notice.tsx';

/**
 * Returns a function to call after an action: it shows a message about the action, and reads the data again that the action has
 * changed. `queryKey` is the prefix of the query keys of this data.
 */
export function useRefresh(queryKey: QueryKey): (notice?: string) => Promise<void> {
  const queries = useQueryClient();
  const notify = useNotice();
  return (notice) => {
    if (notice !== undefined) notify(notice);
    return queries.invalidateQueries({ queryKey });
  };
}
