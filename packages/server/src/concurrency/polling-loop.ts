/** A loop that polls for work. */
export type PollingLoop = {
  /** Polls immediately, or directly after the current poll. */
  readonly wake: () => void;
  /** Stops polling, and resolves after the current poll. */
  readonly close: () => Promise<void>;
};

const everyMs = 1_000;

/** Polls immediately, when woken, and every second, one poll at a time. Reports a failed poll and continues. */
export function startPollingLoop(
  poll: (signal: AbortSignal) => Promise<unknown>,
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
        await poll(signal);
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

  const timer = setInterval(wake, everyMs);
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
