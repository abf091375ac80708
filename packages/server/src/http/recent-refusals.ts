import type { ApiError } from '@bothost/contract';

/** Maximum number of remembered refusals. The oldest refusal is dropped first. */
const entries = 1_000;

/**
 * Remembers why WebSocket tokens were refused. Browsers hide the response to a WebSocket handshake from the page, so
 * the page then requests the same URL without a handshake to learn the cause.
 */
export function createRecentRefusals() {
  const byToken = new Map<string, ApiError>();
  return {
    add: (token: string, error: ApiError) => {
      byToken.set(token, error);
      const [oldest] = byToken.keys();
      if (byToken.size > entries && oldest !== undefined) byToken.delete(oldest);
    },
    find: (token: string | null): ApiError | undefined => (token === null ? undefined : byToken.get(token)),
  };
}
