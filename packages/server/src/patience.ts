/**
 * Runs work with one signal that aborts at the first of several. Not by `AbortSignal.any`: that leaves something behind at a
 * signal that lives as long as the server.
 */
export async function withPatience<T>(
  ends: readonly AbortSignal[],
  work: (patience: AbortSignal) => Promise<T>,
): Promise<T> {
  const patience = new AbortController();
  const stop = () => patience.abort();
  for (const end of ends) end.addEventListener('abort', stop);
  if (ends.some(({ aborted }) => aborted)) stop();
  try {
    return await work(patience.signal);
  } finally {
    for (const end of ends) end.removeEventListener('abort', stop);
  }
}
