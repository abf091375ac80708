/** Work that is looked for again and again. */
export type PollingLoop = {
  /** Looks soon: once more after a look that is going on. */
  readonly kick: () => void;
  /** Ends when the look that is going on has. */
  readonly close: () => Promise<void>;
};

const everyMilliseconds = 1_000;

/**
 * Looks at once, when it is told that there is something, and each second for what was left behind; never twice at a time.
 * The signal says when to leave the rest. A look that fails is told to `onFailure`, unless it was left, and tried again.
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

  function kick(): void {
    again = true;
    if (!signal.aborted) running ??= run();
  }

  const timer = setInterval(kick, everyMilliseconds);
  kick();
  return {
    kick,
    close: async () => {
      closing.abort();
      clearInterval(timer);
      await running;
    },
  };
}
