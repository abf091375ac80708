import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

export type ReconcileLoop = {
  /** Starts running reconcile passes: immediately, at each tick, and soon after each request. */
  readonly start: () => void;
  /** Requests a pass soon. All requests during a pass cause only one further pass. */
  readonly request: () => void;
  /** Resolves after the next pass, or when the signal aborts. */
  readonly nextPass: (signal: AbortSignal) => Promise<void>;
  /** Stops the ticks and waits until the current pass ends. Abort the signal of the loop first, so that the pass ends soon. */
  readonly close: () => Promise<void>;
};

/** Interval in milliseconds of periodic passes, which find expired deadlines. Every other reason for a pass calls `request`. */
const tickMs = 1_000;
/** Pause in milliseconds after each pass, so that a burst of requests causes few passes. */
const pauseMs = 10;

/** Runs `pass` repeatedly, one at a time, until the signal aborts. Reports the result of each pass, and continues after a failure. */
export function createReconcileLoop(
  pass: () => Promise<void>,
  signal: AbortSignal,
  { succeeded, failed }: { readonly succeeded: () => void; readonly failed: (error: unknown) => void },
): ReconcileLoop {
  let started = false;
  let requested = false;
  let running: Promise<void> | null = null;
  const events = new EventEmitter();
  let timer: NodeJS.Timeout | undefined;

  function request(): void {
    requested = true;
    if (!started || signal.aborted) return;
    running ??= run().finally(() => {
      running = null;
      // A request may have arrived after the last check in run().
      if (requested) request();
    });
  }

  async function run(): Promise<void> {
    while (requested && !signal.aborted) {
      requested = false;
      await pass().then(succeeded, failed);
      events.emit('pass');
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
    nextPass: (signal) =>
      once(events, 'pass', { signal }).then(
        () => undefined,
        () => undefined,
      ),
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
}
