/** A loop that polls for work at an interval and when woken. */
export type PollingLoop = {
  /** Polls immediately; if a poll is running, polls once more after it. */
  readonly wake: () => void;
  /** Stops polling. Resolves when the running poll, if any, has ended. */
  readonly close: () => Promise<void>;
};

/** Calls `poll` immediately, when woken, and every `intervalMs`, but never concurrently. Continues after a failure. */
export function startPollingLoop(
  poll: (signal: AbortSignal) => Promise<unknown>,
  onFailure: (error: unknown) => void,
  intervalMs = 1_000,
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

  const timer = setInterval(wake, intervalMs);
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
