import { ConnectionError } from '@bothost/contract';
import { isSignedOutError } from './api.ts';

/** Interval at which pages poll data that changes on the server. TanStack Query does not poll in hidden tabs. */
export const pollIntervalMs = 2_000;

/** Options for queries that keep retrying while the service cannot be reached. */
export const liveQueryOptions = {
  retry: (count: number, error: Error) => error instanceof ConnectionError || (count < 1 && !isSignedOutError(error)),
  retryDelay: 1_000,
  networkMode: 'always',
} as const;
