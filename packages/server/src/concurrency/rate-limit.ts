export type RateLimit = {
  /** Takes a token from the bucket of a key. Returns false if the bucket is empty. */
  readonly take: (key: string) => boolean;
};

/** Above this number of buckets, full buckets are removed to save memory. A full bucket equals a new one. */
const bucketsAtMost = 10_000;

/** Creates a token bucket per key. Buckets are kept in memory, so each server counts separately. */
export function createRateLimit(
  limit: { readonly burst: number; readonly perSecond: number },
  now: () => Date,
): RateLimit {
  const buckets = new Map<string, { tokens: number; at: number }>();

  function refilled(key: string): { tokens: number; at: number } {
    const at = now().getTime();
    const bucket = buckets.get(key) ?? { tokens: limit.burst, at };
    const gained = (Math.max(0, at - bucket.at) / 1000) * limit.perSecond;
    return { tokens: Math.min(limit.burst, bucket.tokens + gained), at };
  }

  function removeFullBuckets() {
    for (const key of buckets.keys()) if (refilled(key).tokens >= limit.burst) buckets.delete(key);
  }

  return {
    take: (key) => {
      const { tokens, at } = refilled(key);
      const isAllowed = tokens >= 1;
      if (buckets.size >= bucketsAtMost) removeFullBuckets();
      buckets.set(key, { tokens: isAllowed ? tokens - 1 : tokens, at });
      return isAllowed;
    },
  };
}
