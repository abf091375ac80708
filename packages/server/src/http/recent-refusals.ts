import type { ApiError } from '@bothost/contract';

/** Maximum number of remembered rejections. The oldest is dropped first. */
const entries = 1_000;

/**
 * Remembers why recent WebSockets were rejected, by their tokens. Browsers do not show the response to a rejected
 * handshake to pages, so a page sends a plain request with the same token to read the reason. Kept in memory, because
 * the reason matters only for seconds.
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
