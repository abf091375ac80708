import { type ApiClient, ApiError, ConnectionError, createApiClient } from '@bothost/contract';

/** A client for the API of the service that serves this page. The browser adds its session cookie to each request. */
export const apiClient: ApiClient = createApiClient({ origin: location.origin });

/** What is wrong with one field of a request. `field` is its path in the body, such as `autoScaling.maxAgents`, or a parameter. */
export type FieldIssue = { readonly field: string; readonly message: string };

export function listFieldIssues(error: unknown): readonly FieldIssue[] {
  if (!(error instanceof ApiError)) return [];
  return error.issues.map(({ path, message }) => ({ field: path.replace(/^(body|params|query)\./, ''), message }));
}

/** Converts an error to a sentence for people. */
export function describeError(error: unknown): string {
  const issues = listFieldIssues(error);
  if (issues.length > 0) return issues.map(({ field, message }) => `${field}: ${message}`).join('; ');
  if (error instanceof ConnectionError) return 'The service cannot be reached. Check your connection and try again.';
  return error instanceof Error ? error.message : String(error);
}

export function isNotFoundError(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

export function isSignedOutError(error: unknown): boolean {
  return error instanceof ApiError && (error.reason === 'session-expired' || error.reason === 'key-missing');
}
