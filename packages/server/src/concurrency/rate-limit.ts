/** What each of many may do in a while: `atOnce` after a rest, and `perSecond` on and on. */
export type RateLimit = {
  /** True when it may be done, which then counts; false when there was too much. */
  readonly take: (of: string) => boolean;
};

/** Those who rest long enough are forgotten when there are so many. */
const remembered = 10_000;

/** In the memory of this process: another server of the same organization counts for itself. */
export function createRateLimit(
  limit: { readonly atOnce: number; readonly perSecond: number },
  now: () => Date,
): RateLimit {
  const taken = new Map<string, { left: number; at: number }>();

  function leftOf(of: string): { left: number; at: number } {
    const at = now().getTime();
    const before = taken.get(of) ?? { left: limit.atOnce, at };
    const gained = (Math.max(0, at - before.at) / 1000) * limit.perSecond;
    return { left: Math.min(limit.atOnce, before.left + gained), at };
  }

  function forgetRested() {
    for (const of of taken.keys()) if (leftOf(of).left >= limit.atOnce) taken.delete(of);
  }

  return {
    take: (of) => {
      const { left, at } = leftOf(of);
      const may = left >= 1;
      if (taken.size >= remembered) forgetRested();
      taken.set(of, { left: may ? left - 1 : left, at });
      return may;
    },
  };
}
