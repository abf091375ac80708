/** Notifies followers of a build's log of new lines and of the end of the build. */
export type LogNews = {
  readonly tell: (buildId: string) => void;
  /**
   * Subscribes to notifications. Subscribe before reading the log, so that no line is missed, and unsubscribe
   * afterwards.
   */
  readonly next: (buildId: string) => {
    /**
     * Resolves at the next notification, after this time, or when the signal aborts. Do not pass a signal that is
     * already aborted.
     */
    readonly within: (milliseconds: number, signal: AbortSignal) => Promise<void>;
    readonly drop: () => void;
  };
};

/** Builds of other servers send no notifications to this server, so their logs are polled at this interval. */
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
