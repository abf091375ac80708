/**
 * Returns a signal that aborts after `ms` milliseconds, for use in `AbortSignal.any`. In Node.js 20, a combined signal never aborts
 * at the end of an `AbortSignal.timeout` that was garbage collected. A listener prevents that.
 */
export function createTimeout(ms: number): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  timeout.addEventListener('abort', () => undefined);
  return timeout;
}
