import { queryOptions } from '@tanstack/react-query';
import { apiClient } from '../api.ts';

export const signInMethodsQuery = queryOptions({
  queryKey: ['sign-in methods'],
  queryFn: ({ signal }) => apiClient.getSignInMethods({}, signal),
});

export function linkQuery(token: string | null) {
  return queryOptions({
    queryKey: ['link', token],
    queryFn: ({ signal }) => apiClient.describeLink({ body: { token: token ?? '' } }, signal),
    retry: false,
  });
}

export function deviceLoginQuery(userCode: string) {
  return queryOptions({
    queryKey: ['device login', userCode],
    queryFn: ({ signal }) => apiClient.getDeviceLogin({ params: { userCode } }, signal),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
