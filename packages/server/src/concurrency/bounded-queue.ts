/**
 * Does the work of each name one after the other, in the order in which it was asked for, whatever became of that before.
 * `bytes` is what it holds while it waits. Rejects at once where too much waits already.
 */
export type BoundedQueue = <T>(of: string, bytes: number, work: () => Promise<T>) => Promise<T>;

/** What waits of one name, with what is being done. */
type Line = { last: Promise<unknown>; requests: number; bytes: number };

/**
 * In the memory of this process, for what would wait for one lock of the database: whoever waits here holds no connection and
 * runs into no time limit, and leaves the connections to others. The lock is still what makes it right. `most` bounds what a
 * name has here: a single piece of work is taken however large it is.
 */
export function createBoundedQueue(
  most: { readonly requests: number; readonly bytes: number },
  refuse: () => Error,
): BoundedQueue {
  const lines = new Map<string, Line>();
  return async (of, bytes, work) => {
    const line = lines.get(of) ?? { last: Promise.resolve(), requests: 0, bytes: 0 };
    const isFull = line.requests >= most.requests || line.bytes + bytes > most.bytes;
    if (line.requests > 0 && isFull) throw refuse();
    lines.set(of, line);
    line.requests += 1;
    line.bytes += bytes;
    const turn = line.last.then(work).finally(() => {
      line.requests -= 1;
      line.bytes -= bytes;
      if (line.requests === 0) lines.delete(of);
    });
    line.last = turn.catch(() => undefined);
    return turn;
  };
}
