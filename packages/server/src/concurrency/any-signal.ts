/**
 * Runs `work` with a signal that aborts at the first of several signals. Used instead of `AbortSignal.any`, which leaks memory
 * if one of its signals lives long (https://github.com/nodejs/node/issues/64476), and in Node.js 20 never aborts at the end of an
 * `AbortSignal.timeout` that was garbage collected because nothing else refers to it.
 */
export async function withAnySignal<T>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const first = new AbortController();
  const stop = () => first.abort();
  for (const signal of signals) signal.addEventListener('abort', stop);
  if (signals.some(({ aborted }) => aborted)) stop();
  try {
    return await work(first.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', stop);
  }
}
