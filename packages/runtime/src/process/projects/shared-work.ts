type Output = (line: string) => void;

/** Work that several callers may want at once: done once, with all of them listening. */
export type SharedWork<T> = (
  key: string,
  output: Output,
  signal: AbortSignal,
  work: (output: Output, signal: AbortSignal) => Promise<T>,
) => Promise<T>;

type Running<T> = {
  readonly listeners: Set<{ readonly output: Output }>;
  readonly controller: AbortController;
  readonly done: Promise<T>;
};

/**
 * The first call for a key does the work, later ones share it. A caller's abort ends that caller's part; when nobody is
 * left, the work is aborted, and the last caller's promise rejects with the signal's reason once it has come to rest.
 */
export function createSharedWork<T>(): SharedWork<T> {
  const running = new Map<string, Running<T>>();

  const begin = (key: string, work: Parameters<SharedWork<T>>[3]): Running<T> => {
    const controller = new AbortController();
    const listeners: Running<T>['listeners'] = new Set();
    const tell = (line: string) => {
      for (const { output } of listeners) output(line);
    };
    // Not in the same breath: the caller listens before the first line.
    const done = Promise.resolve()
      .then(() => work(tell, controller.signal))
      .finally(() => running.delete(key));
    done.catch(() => undefined);
    const shared = { listeners, controller, done };
    running.set(key, shared);
    return shared;
  };

  return async (key, output, signal, work) => {
    signal.throwIfAborted();
    for (let given = running.get(key); given?.controller.signal.aborted === true; given = running.get(key)) {
      await given.done.catch(() => undefined);
    }
    signal.throwIfAborted();
    const shared = running.get(key) ?? begin(key, work);
    const listener = { output };
    shared.listeners.add(listener);
    let onAbort = () => {};
    const left = new Promise<void>((resolve) => {
      onAbort = resolve;
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      await Promise.race([left, shared.done.catch(() => undefined)]);
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
