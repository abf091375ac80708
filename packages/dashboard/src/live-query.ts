import { ConnectionError } from '@bothost/contract';

/** How often data that changes by itself is read. Browsers pause this for tabs that are not visible. */
export const pollMs = 2_000;

/** Options of queries that resume by themselves after the connection was lost. */
export const liveOptions = {
  retry: (count: number, error: Error) => error instanceof ConnectionError || count < 1,
  retryDelay: 1_000,
  networkMode: 'always',
} as const;
