/** Tells those who follow a build's log that there is more of it, or that the build is over. */
export type LogNews = {
  readonly tell: (buildId: string) => void;
  /** News from this moment on; take it before looking, so that none is missed, and drop it afterwards. */
  readonly next: (buildId: string) => {
    /** Resolves at the news, after this time, or when the signal is aborted, which it must not be before. */
    readonly within: (milliseconds: number, signal: AbortSignal) => Promise<void>;
    readonly drop: () => void;
  };
};

/** A build that another server runs tells nothing here: it is looked at this often. */
const lookMilliseconds = 1_000;

export function createLogNews(): LogNews {
  const waiting = new Map<string, Set<() => void>>();
  return {
    tell: (buildId) => {
      for (const resolve of waiting.get(buildId) ?? []) resolve();
    },
    next: (buildId) => {
      let resolveNews: () => void = () => undefined;
      const news = new Promise<void>((resolve) => {
        resolveNews = resolve;
      });
      const those = waiting.get(buildId) ?? new Set();
      waiting.set(buildId, those.add(resolveNews));
      return {
        within: async (milliseconds, signal) => {
          const timer = setTimeout(resolveNews, Math.min(milliseconds, lookMilliseconds));
          signal.addEventListener('abort', resolveNews);
          await news;
          signal.removeEventListener('abort', resolveNews);
          clearTimeout(timer);
        },
        drop: () => {
          those.delete(resolveNews);
          if (those.size === 0 && waiting.get(buildId) === those) waiting.delete(buildId);
        },
      };
    },
  };
}
