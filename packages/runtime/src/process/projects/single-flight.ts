import type { BuildOutputHandler } from '../../runtime.ts';

/** Single flight: concurrent callers with the same key share one run of the work, and all get its output. */
export type SingleFlight<T> = (
  key: string,
  output: BuildOutputHandler,
  signal: AbortSignal,
  work: (output: BuildOutputHandler, signal: AbortSignal) => Promise<T>,
) => Promise<T>;

type SharedRun<T> = {
  readonly listeners: Set<{ readonly output: BuildOutputHandler }>;
  readonly controller: AbortController;
  readonly done: Promise<T>;
};

/** Later calls for a key join the running work. It is aborted once all callers have aborted; the last then waits for it. */
export function createSingleFlight<T>(): SingleFlight<T> {
  const running = new Map<string, SharedRun<T>>();

  const begin = (key: string, work: Parameters<SingleFlight<T>>[3]): SharedRun<T> => {
    const controller = new AbortController();
    const listeners: SharedRun<T>['listeners'] = new Set();
    const emit: BuildOutputHandler = (line, isDetail) => {
      for (const { output } of listeners) output(line, isDetail);
    };
    // Start the work in the next microtask, so that the caller's listener is registered before the first line of output.
    const done = Promise.resolve()
      .then(() => work(emit, controller.signal))
      .finally(() => running.delete(key));
    done.catch(() => undefined);
    const shared = { listeners, controller, done };
    running.set(key, shared);
    return shared;
  };

  return async (key, output, signal, work) => {
    signal.throwIfAborted();
    for (let ending = running.get(key); ending?.controller.signal.aborted === true; ending = running.get(key)) {
      await ending.done.catch(() => undefined);
    }
    signal.throwIfAborted();
    const shared = running.get(key) ?? begin(key, work);
    const listener = { output };
    shared.listeners.add(listener);
    let onAbort = () => {};
    const aborted = new Promise<void>((resolve) => {
      onAbort = resolve;
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      await Promise.race([aborted, shared.done.catch(() => undefined)]);
      if (!signal.aborted) return await shared.done;
      shared.listeners.delete(listener);
      if (shared.listeners.size === 0) {
        shared.controller.abort(signal.reason);
        await shared.done.catch(() => undefined);
      }
      throw signal.reason;
    } finally {
      signal.removeEventListener('abort', onAbort);
      shared.listeners.delete(listener);
    }
  };
}
