import type { ApiError } from '@bothost/contract';

/** Maximum number of remembered refusals. The oldest refusal is dropped first. */
const entries = 1_000;

/** Browsers hide the response to a handshake, so a page requests the same URL with plain HTTP to learn the cause. */
export function createRefusedHandshakeCache() {
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
