/** Values that wait for one consumer, or a consumer that waits for values. */
export type EventQueue<T> = {
  readonly push: (value: T) => void;
  /** Ends at the abort; what is queued then is dropped. */
  readonly read: (signal: AbortSignal) => AsyncGenerator<T>;
};

export function createEventQueue<T>(): EventQueue<T> {
  const values: T[] = [];
  let wake: () => void = () => undefined;
  return {
    push: (value) => {
      values.push(value);
      wake();
    },
    read: async function* (signal) {
      const onAbort = () => wake();
      signal.addEventListener('abort', onAbort);
      try {
        while (!signal.aborted) {
          const value = values.shift();
          if (value !== undefined) yield value;
          else {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}
