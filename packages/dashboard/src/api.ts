import { type ApiClient, ApiError, ConnectionError, createApiClient } from '@bothost/contract';

/** A client for the API of the service that serves this page. The browser adds its session cookie to each request. */
export const apiClient: ApiClient = createApiClient({ origin: location.origin });

/** Converts an error to a sentence for people. */
export function describeError(error: unknown): string {
  if (error instanceof ApiError && error.issues.length > 0) {
    return error.issues.map(({ path, message }) => `${path.replace('body.', '')}: ${message}`).join('; ');
  }
  if (error instanceof ConnectionError) return 'The service cannot be reached. Check your connection and try again.';
  return error instanceof Error ? error.message : String(error);
}

export function isNotFoundError(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

export function isSignedOutError(error: unknown): boolean {
  return error instanceof ApiError && (error.reason === 'session-expired' || error.reason === 'key-missing');
}
