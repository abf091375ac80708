/** A loop that polls for work. */
export type PollingLoop = {
  /** Polls soon: immediately, or after the current poll. */
  readonly wake: () => void;
  /** Resolves after the current poll. */
  readonly close: () => Promise<void>;
};

const everyMilliseconds = 1_000;

/**
 * Polls immediately, on request, and each second, never concurrently. `close` aborts the signal of the current poll. A failed
 * poll is reported to `onFailure`, unless it was aborted, and repeated.
 */
export function startPollingLoop(
  look: (signal: AbortSignal) => Promise<unknown>,
  onFailure: (error: unknown) => void,
): PollingLoop {
  let running: Promise<void> | null = null;
  let again = false;
  const closing = new AbortController();
  const { signal } = closing;

  async function run(): Promise<void> {
    do {
      again = false;
      try {
        await look(signal);
      } catch (error) {
        if (!signal.aborted) onFailure(error);
      }
    } while (again && !signal.aborted);
    running = null;
  }

  function wake(): void {
    again = true;
    if (!signal.aborted) running ??= run();
  }

  const timer = setInterval(wake, everyMilliseconds);
  wake();
  return {
    wake,
    close: async () => {
      closing.abort();
      clearInterval(timer);
      await running;
    },
  };
}
