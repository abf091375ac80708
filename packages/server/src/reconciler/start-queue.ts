/**
 * Runs a start when its turn comes. Rejects with the signal's reason if the signal aborts before that; a start that runs is not
 * affected.
 */
export type StartQueue = <T>(organizationId: string, signal: AbortSignal, start: () => Promise<T>) => Promise<T>;

/**
 * Bounds how many instances of each organization start at the same time. Without a bound, many starts at once, as after a
 * restart, share the processors until all of them miss their deadline. First come, first served.
 */
export function createStartQueue(limit: number): StartQueue {
  const lanes = new Map<string, { running: number; readonly waiting: Set<() => void> }>();

  function takeTurn(organizationId: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const lane = lanes.get(organizationId) ?? { running: 0, waiting: new Set() };
    lanes.set(organizationId, lane);
    if (lane.running < limit) {
      lane.running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        lane.waiting.delete(begin);
        reject(signal.reason);
      };
      const begin = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      lane.waiting.add(begin);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Passes the turn to the next start, if any. */
  function endTurn(organizationId: string): void {
    const lane = lanes.get(organizationId);
    if (lane === undefined) return;
    const [next] = lane.waiting;
    if (next !== undefined) {
      lane.waiting.delete(next);
      next();
    } else {
      lane.running -= 1;
      if (lane.running === 0) lanes.delete(organizationId);
    }
  }

  return async (organizationId, signal, start) => {
    await takeTurn(organizationId, signal);
    try {
      return await start();
    } finally {
      endTurn(organizationId);
    }
  };
}
