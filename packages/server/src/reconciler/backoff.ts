/** Pause after a failed instance of a deployment: one second, doubling up to a minute. */
const firstMilliseconds = 1_000;
const longestMilliseconds = 60_000;
/**
 * Failures that are further apart do not add up. A successful start does not reset the count: a bot that exits right after it
 * is ready would be started each second forever.
 */
const forgottenMilliseconds = 300_000;

export type Backoff = {
  readonly failed: (id: string) => void;
  /** Ends the pause until the next failure. */
  readonly succeeded: (id: string) => void;
  /** Null without a recent failure. */
  readonly until: (id: string) => Date | null;
};

export function createBackoff(now: () => Date): Backoff {
  const failures = new Map<string, { count: number; at: number; until: Date | null }>();
  return {
    failed(id) {
      const at = now().getTime();
      const before = failures.get(id);
      const counted = before === undefined || at - before.at >= forgottenMilliseconds ? 0 : before.count;
      // Instances that were starting when the first one failed count as one failure: a whole pool may fail at once.
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
