import type { ApiError } from '@bothost/contract';

/** At most; the oldest is forgotten first. */
const entries = 1_000;

/**
 * Why the newest WebSockets were refused, by their tokens. Browsers hide the response to a refused handshake from pages, so a page
 * repeats it as a plain request with the same token. In memory, because it matters for seconds only.
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
