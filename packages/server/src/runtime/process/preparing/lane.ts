/** Runs work of the same key one after the other, in the order of the calls; work of different keys side by side. */
export type Lanes = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createLanes(): Lanes {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const done = before.then(work, work);
    const settled = done.catch(() => undefined);
    last.set(key, settled);
    try {
      return await done;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
}
