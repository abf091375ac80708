/** A token bucket per key. */
export type RateLimit = {
  /** Takes a token of a key's bucket. False if the bucket is empty. */
  readonly take: (key: string) => boolean;
};

/** From this many buckets on, full ones are removed. */
const bucketsAtMost = 10_000;

/** Buckets are in the memory of this process, so each server has its own. */
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
