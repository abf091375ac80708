/** One at a time for each id, in the order of their coming. */
export type Exclusive = {
  /**
   * Does `work` when all that came before it for the same id are done. With `givesUpFormer` the one before is told to stop,
   * by its signal: somebody whose connection broke comes back before the service has noticed.
   */
  readonly run: <T>(id: string, givesUpFormer: boolean, work: (givenUp: AbortSignal) => Promise<T>) => Promise<T>;
};

export function createExclusive(): Exclusive {
  const last = new Map<string, { readonly giveUp: AbortController; readonly done: Promise<void> }>();
  return {
    run: async (id, givesUpFormer, work) => {
      const former = last.get(id);
      let finish: () => void = () => undefined;
      const done = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const own = { giveUp: new AbortController(), done };
      last.set(id, own);
      if (givesUpFormer) former?.giveUp.abort();
      try {
        await former?.done;
        return await work(own.giveUp.signal);
      } finally {
        finish();
        if (last.get(id) === own) last.delete(id);
      }
    },
  };
}
