/** Runs work of the same key one after the other, in the order of the calls; work of different keys side by side. */
export type KeyedQueue = <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** An abort takes work that has not begun out of the queue, and rejects with the signal's reason; begun work goes on. */
export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work, signal) => {
    signal?.throwIfAborted();
    let begun = false;
    let onAbort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => {
        if (!begun) reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    const done = (last.get(key) ?? Promise.resolve()).then(() => {
      signal?.throwIfAborted();
      begun = true;
      return work();
    });
    const settled = done.catch(() => undefined);
    last.set(key, settled);
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key);
    });
    try {
      return await Promise.race([done, aborted]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  };
}
