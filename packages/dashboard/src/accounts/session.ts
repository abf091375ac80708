import type { User } from '@bothost/contract';
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { apiClient, isSignedOutError } from '../api.ts';

/** Notifies the other tabs of this browser that a person signed in or out. */
const channel = new BroadcastChannel('bothost.session');

/** The query for the signed-in person. Its data is null in a signed-out browser. */
export const userQuery = queryOptions({
  queryKey: ['user'],
  queryFn: ({ signal }): Promise<User | null> =>
    apiClient.getUser({}, signal).catch((error: unknown) => {
      if (isSignedOutError(error)) return null;
      throw error;
    }),
  staleTime: 60_000,
});

/** Returns the signed-in person. Throws in components that are not rendered inside `SignedInGuard`. */
export function useUser(): User {
  const { data } = useQuery(userQuery);
  if (data == null) throw new Error('useUser is called outside of SignedInGuard');
  return data;
}

/** Stores the signed-in person after a sign-in and informs the other tabs. Every form that signs a person in must call this. */
export function setUser(queries: QueryClient, user: User): void {
  queries.setQueryData(userQuery.queryKey, user);
  channel.postMessage('signed in');
}

export async function signOut(queries: QueryClient): Promise<void> {
  await apiClient.signOut();
  clearSignedOutUserData(queries);
  channel.postMessage('signed out');
}

/** Signs the person out in this browser and in all others. */
export async function signOutEverywhere(queries: QueryClient): Promise<void> {
  await apiClient.signOutEverywhere();
  clearSignedOutUserData(queries);
  channel.postMessage('signed out');
}

/**
 * Follows the other tabs: a sign-out in another tab signs this tab out, and a sign-in in another tab reloads this tab's data.
 * Returns a function that stops listening.
 */
export function syncSignInAcrossTabs(queries: QueryClient): () => void {
  const listen = ({ data }: MessageEvent) => {
    if (data === 'signed out') clearSignedOutUserData(queries);
    else void queries.invalidateQueries();
  };
  channel.addEventListener('message', listen);
  return () => channel.removeEventListener('message', listen);
}

export function clearSignedOutUserData(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== userQuery.queryKey[0] });
  queries.setQueryData(userQuery.queryKey, null);
}
