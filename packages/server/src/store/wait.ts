import { watch } from 'node:fs';

/** Polling interval in milliseconds. Detects changes that no directory watch reports, such as the end of a process. */
const recheckMs = 100;

/**
 * Waits until `check` returns a value that is not undefined, and resolves with this value. Calls `check` immediately, at each
 * change in `directory`, when the promise `also` settles, and every 100 ms. Resolves with undefined after `timeoutMs`.
 */
export async function waitForValue<T>(options: {
  readonly directory: string;
  readonly timeoutMs: number;
  readonly check: () => Promise<T | undefined>;
  readonly also?: Promise<unknown>;
}): Promise<T | undefined> {
  let wake: () => void = () => undefined;
  const watcher = watchOrNone(options.directory, () => wake());
  const timer = setInterval(() => wake(), recheckMs);
  options.also?.finally(() => wake()).catch(() => undefined);
  const deadline = performance.now() + options.timeoutMs;
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const value = await options.check();
      if (value !== undefined || performance.now() >= deadline) return value;
      await changed;
    }
  } finally {
    watcher?.close();
    clearInterval(timer);
  }
}

/** Watches a directory. Undefined if the system allows no more watches (inotify(7)), so `waitForValue` only polls. */
function watchOrNone(directory: string, changed: () => void) {
  try {
    const watcher = watch(directory, changed);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
