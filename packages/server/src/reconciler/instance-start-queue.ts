/** Runs `start` when its turn comes. Rejects with the signal's reason if the signal aborts before `start` is called. */
export type InstanceStartQueue = <T>(
  organizationId: string,
  signal: AbortSignal,
  start: () => Promise<T>,
) => Promise<T>;

/**
 * Limits how many instances of each organization start at the same time, in order of arrival. Without a limit, many
 * concurrent starts, for example after a restart, would share the processors until all of them time out.
 */
export function createInstanceStartQueue(limit: number): InstanceStartQueue {
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

  /** Lets the next queued start of the organization begin, if there is one. */
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
