type Log = (fields: { readonly err?: unknown }, text: string) => void;

/** Logs a failure that repeats only when it begins, when its message changes, and when it is over. */
export function createFailureLog(logger: { readonly error: Log; readonly info: Log }, name: string) {
  let lastMessage: string | null = null;
  return {
    failed: (error: unknown): void => {
      const message = String(error);
      if (message !== lastMessage) logger.error({ err: error }, `${name} failed`);
      lastMessage = message;
    },
    succeeded: (): void => {
      if (lastMessage !== null) logger.info({}, `${name} succeeded again`);
      lastMessage = null;
    },
  };
}
