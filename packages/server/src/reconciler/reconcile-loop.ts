import { setTimeout as delay } from 'node:timers/promises';

export type ReconcileLoop = {
  /** Runs passes from now on: one at once, one per tick, and one soon after each request. */
  readonly start: () => void;
  /** Asks for a pass soon. Requests during a pass share the next one. */
  readonly request: () => void;
  /** Stops the ticks and waits for the current pass. Abort the signal first. */
  readonly close: () => Promise<void>;
};

/** Deadlines are checked this often; all other changes arrive as requests. */
const tickMs = 1_000;
/** Pause after each pass, so that a burst of requests costs few passes. */
const pauseMs = 10;

/** Runs `pass` repeatedly, never twice at a time, until the signal. Reports a failed pass and continues with the next one. */
export function createReconcileLoop(
  pass: () => Promise<void>,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): ReconcileLoop {
  let started = false;
  let requested = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  function request(): void {
    requested = true;
    if (!started || signal.aborted) return;
    running ??= run().finally(() => {
      running = null;
      // A request may have come after the last check in run().
      if (requested) request();
    });
  }

  async function run(): Promise<void> {
    while (requested && !signal.aborted) {
      requested = false;
      await pass().catch(onFailure);
      await delay(pauseMs);
    }
  }

  return {
    start: () => {
      started = true;
      timer = setInterval(request, tickMs);
      request();
    },
    request,
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
