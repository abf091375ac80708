/** Delay before the next start after an instance of a deployment failed: one second, doubling up to one minute. */
const firstMs = 1_000;
const longestMs = 60_000;
/**
 * If the previous failure was longer ago than this time, the delay starts from one second again. A successful start alone does
 * not reset the delay. Otherwise, a bot that exits right after each start would be started every second forever.
 */
const retentionMs = 300_000;

export type Backoff = {
  readonly failed: (id: string) => void;
  /** Ends the current delay after a successful start. The next failure still increases the delay. */
  readonly succeeded: (id: string) => void;
  /** Returns the time before which no instance may be started. Null if no delay applies. */
  readonly until: (id: string) => Date | null;
};

export function createBackoff(now: () => Date): Backoff {
  const failures = new Map<string, { count: number; at: number; until: Date | null }>();

  /** Deletes failures that no longer matter. Otherwise, the map would grow with each deployment that ever failed. */
  function forget(nowMs: number): void {
    for (const [id, { at }] of failures) {
      if (nowMs - at < retentionMs) return;
      failures.delete(id);
    }
  }

  return {
    failed(id) {
      const at = now().getTime();
      const before = failures.get(id);
      forget(at);
      const counted = before === undefined || at - before.at >= retentionMs ? 0 : before.count;
      // Do not count failures of instances that were already starting at the first failure, because all instances of a
      // pool may fail at once.
      const isAnother = before?.until == null || at >= before.until.getTime();
      const count = isAnother ? counted + 1 : counted;
      const wait = Math.min(longestMs, firstMs * 2 ** Math.min(count - 1, 10));
      // Delete the entry first, so that the map stays ordered by the time of the last failure.
      failures.delete(id);
      failures.set(id, { count, at, until: new Date(at + wait) });
    },
    succeeded(id) {
      const before = failures.get(id);
      if (before !== undefined) failures.set(id, { ...before, until: null });
    },
    until: (id) => failures.get(id)?.until ?? null,
  };
}
