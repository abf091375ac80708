/** Aborts on SIGINT and SIGTERM. Every wait of the benchmark then fails, so that services are stopped and files are removed. */
export const benchmarkAbortController = new AbortController();

export function abortOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => benchmarkAbortController.abort(new Error(`The benchmark was interrupted by ${signal}.`)));
  }
}
