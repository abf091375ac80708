/** After a start of a pool instance failed: a second, doubling to a minute, until one of the deployment starts. */
const firstMilliseconds = 1_000;
const longestMilliseconds = 60_000;

export type Backoff = {
  readonly failed: (id: string) => void;
  readonly succeeded: (id: string) => void;
  /** Null: nothing failed lately. */
  readonly until: (id: string) => Date | null;
};

export function createBackoff(now: () => Date): Backoff {
  const failures = new Map<string, { count: number; until: Date }>();
  return {
    failed(id) {
      const count = (failures.get(id)?.count ?? 0) + 1;
      const wait = Math.min(longestMilliseconds, firstMilliseconds * 2 ** Math.min(count - 1, 10));
      failures.set(id, { count, until: new Date(now().getTime() + wait) });
    },
    succeeded: (id) => void failures.delete(id),
    until: (id) => failures.get(id)?.until ?? null,
  };
}
