/** One-time events by id, for those who wait for them. */
export type Settled = { readonly settle: (id: string) => void; readonly settled: (id: string) => Promise<void> };

export function createSettled(): Settled {
  const done = new Set<string>();
  const waiting = new Map<string, (() => void)[]>();
  return {
    settle(id) {
      done.add(id);
      for (const resolve of waiting.get(id) ?? []) resolve();
      waiting.delete(id);
    },
    settled: (id) =>
      done.has(id)
        ? Promise.resolve()
        : new Promise((resolve) => waiting.set(id, [...(waiting.get(id) ?? []), resolve])),
  };
}
