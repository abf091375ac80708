import type { RuntimeLogger } from './runtime.ts';

/** A periodic check for changes that no event reports. With `polls: n`, it runs on every n-th poll. */
export type PollingCheck = { readonly polls: number; readonly run: () => void | Promise<void> };

/** Runs checks until the returned function is called. Logs failures. Skips a check while its previous run is pending. */
export function startPolling(
  { pollMs, logger }: { readonly pollMs: number; readonly logger: Pick<RuntimeLogger, 'error'> },
  checks: readonly PollingCheck[],
): () => void {
  const pending = new Set<PollingCheck>();
  const run = async (check: PollingCheck) => {
    if (pending.has(check)) return;
    pending.add(check);
    try {
      await check.run();
    } catch (error) {
      logger.error({ err: error }, 'periodic check of instances failed');
    } finally {
      pending.delete(check);
    }
  };
  let polls = 0;
  const timer = setInterval(() => {
    polls++;
    for (const check of checks) if (polls % check.polls === 0) void run(check);
  }, pollMs);
  timer.unref();
  return () => clearInterval(timer);
}
