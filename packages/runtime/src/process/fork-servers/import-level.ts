/**
 * What a fork server imports: the bot, or only its libraries if forking after the import of the bot is unsafe, for example
 * because the import starts a thread.
 */
export type ImportLevel = 'module' | 'libraries';

export type BotImportAttempt = { readonly level: ImportLevel; readonly modules: readonly string[] };

export type BotImportFailure = {
  readonly reason: string;
  readonly modules: readonly string[];
};

/**
 * Plans the next attempt of a fork server to import a bot. The first attempt also imports `remembered`, the modules that the
 * bot imported during earlier sessions. If it fails, the second attempt omits these modules, because perhaps only they make
 * forking unsafe. The last attempt imports only the libraries of the bot. Returns null if no attempt is left, so that instances
 * must be spawned.
 */
export function planNextBotImport(
  remembered: readonly string[],
  failures: readonly { readonly attempt: BotImportAttempt; readonly failure: BotImportFailure }[],
): BotImportAttempt | null {
  const last = failures.at(-1);
  if (last === undefined) return { level: 'module', modules: remembered };
  if (last.attempt.level === 'libraries') return null;
  if (last.attempt.modules.length > 0) return { level: 'module', modules: [] };
  return last.failure.modules.length > 0 ? { level: 'libraries', modules: last.failure.modules } : null;
}
