/** After a failure of a deployment's instances: a second, doubling to a minute. */
const firstMilliseconds = 1_000;
const longestMilliseconds = 60_000;
/**
 * Failures that are further apart are counted anew. A start that works does not count them anew: a bot that is ready and
 * falls right after would be started each second for ever.
 */
const forgottenMilliseconds = 300_000;

export type Backoff = {
  readonly failed: (id: string) => void;
  /** Nothing has to wait any more, until the next failure. */
  readonly succeeded: (id: string) => void;
  /** Null: nothing failed lately. */
  readonly until: (id: string) => Date | null;
};

export function createBackoff(now: () => Date): Backoff {
  const failures = new Map<string, { count: number; at: number; until: Date | null }>();
  return {
    failed(id) {
      const at = now().getTime();
      const before = failures.get(id);
      const counted = before === undefined || at - before.at >= forgottenMilliseconds ? 0 : before.count;
      // Those that were on their way when the first of them failed are one failure: a whole pool may fall at once.
      const isAnother = before?.until == null || at >= before.until.getTime();
      const count = isAnother ? counted + 1 : counted;
      const wait = Math.min(longestMilliseconds, firstMilliseconds * 2 ** Math.min(count - 1, 10));
      failures.set(id, { count, at, until: new Date(at + wait) });
    },
    succeeded(id) {
      const before = failures.get(id);
      if (before !== undefined) failures.set(id, { ...before, until: null });
    },
    until: (id) => failures.get(id)?.until ?? null,
  };
}
