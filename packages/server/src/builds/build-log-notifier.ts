/** Notifies the followers of a build's log when lines were stored and when the build has ended. */
export type BuildLogNotifier = {
  readonly notify: (buildId: string) => void;
  /** Subscribes to the next notification. Call it before reading the log, to miss no line, and `drop` afterwards. */
  readonly next: (buildId: string) => {
    /** Resolves at a notification or abort, or after `milliseconds`, at most `pollMs`. The signal must not be aborted yet. */
    readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
    readonly drop: () => void;
  };
};

/** Builds of other servers send no notifications to this server, so their logs are polled at this interval. */
const pollMs = 1_000;

export function createBuildLogNotifier(): BuildLogNotifier {
  const waiting = new Map<string, Set<() => void>>();
  return {
    notify: (buildId) => {
      for (const resolve of waiting.get(buildId) ?? []) resolve();
    },
    next: (buildId) => {
      let resolveNews: () => void = () => undefined;
      const news = new Promise<void>((resolve) => {
        resolveNews = resolve;
      });
      const resolvers = waiting.get(buildId) ?? new Set();
      waiting.set(buildId, resolvers.add(resolveNews));
      return {
        wait: async (milliseconds, signal) => {
          const timer = setTimeout(resolveNews, Math.min(milliseconds, pollMs));
          signal.addEventListener('abort', resolveNews);
          await news;
          signal.removeEventListener('abort', resolveNews);
          clearTimeout(timer);
        },
        drop: () => {
          resolvers.delete(resolveNews);
          if (resolvers.size === 0 && waiting.get(buildId) === resolvers) waiting.delete(buildId);
        },
      };
    },
  };
}
