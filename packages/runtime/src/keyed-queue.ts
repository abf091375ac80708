/** Runs tasks of the same key one after the other, in the order of the calls, and tasks of different keys concurrently. */
export type KeyedQueue = <T>(key: string, task: () => Promise<T>, options?: TaskOptions) => Promise<T>;

export type TaskOptions = {
  /** An abort rejects a waiting task with the signal's reason. A running task continues. */
  readonly signal?: AbortSignal;
  /** Bytes of memory that the task holds while it waits or runs. They count against the limit of the queue. Default: 0. */
  readonly bytes?: number;
};

/**
 * Maximum number and total bytes of the running and waiting tasks of one key. A key without tasks accepts a task of any size.
 */
export type QueueLimit = { readonly tasks: number; readonly bytes: number; readonly error: () => Error };

type Lane = { last: Promise<unknown>; tasks: number; bytes: number };

/** Creates a queue. With a `limit`, a task that would exceed the limit is rejected at once with `limit.error`. */
export function createKeyedQueue(limit?: QueueLimit): KeyedQueue {
  const lanes = new Map<string, Lane>();

  return async (key, task, { signal, bytes = 0 } = {}) => {
    signal?.throwIfAborted();
    const lane = lanes.get(key) ?? { last: Promise.resolve(), tasks: 0, bytes: 0 };
    const isFull = limit !== undefined && (lane.tasks >= limit.tasks || lane.bytes + bytes > limit.bytes);
    if (lane.tasks > 0 && isFull) throw limit.error();
    lanes.set(key, lane);
    lane.tasks += 1;
    lane.bytes += bytes;
    let isRunning = false;
    const done = lane.last
      .then(() => {
        signal?.throwIfAborted();
        isRunning = true;
        return task();
      })
      .finally(() => {
        lane.tasks -= 1;
        lane.bytes -= bytes;
        if (lane.tasks === 0) lanes.delete(key);
      });
    lane.last = done.catch(() => undefined);

    let onAbort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => {
        if (!isRunning) reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([done, aborted]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  };
}
