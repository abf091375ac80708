import type { RuntimeLogger } from '../runtime.ts';

/** A periodic check for changes that no event reports. With `polls: n`, it runs on every n-th poll. */
export type PollingCheck = { readonly polls: number; readonly run: () => void };

/** Runs the checks until the returned function is called. A check that throws is logged and runs again. */
export function startPolling(
  { pollMs, logger }: { readonly pollMs: number; readonly logger: Pick<RuntimeLogger, 'error'> },
  checks: readonly PollingCheck[],
): () => void {
  let polls = 0;
  const timer = setInterval(() => {
    polls++;
    for (const { run } of checks.filter((check) => polls % check.polls === 0)) {
      try {
        run();
      } catch (error) {
        logger.error({ err: error }, 'periodic check of instances failed');
      }
    }
  }, pollMs);
  timer.unref();
  return () => clearInterval(timer);
}
