/**
 * What a fork server imports: the bot, or only its libraries if forking after the import of the bot is unsafe, for example
 * because the import starts a thread.
 */
export type ImportLevel = 'module' | 'libraries';

export type ImportAttempt = { readonly level: ImportLevel; readonly modules: readonly string[] };

export type ImportFailure = {
  readonly reason: string;
  readonly modules: readonly string[];
};

/**
 * Returns what the fork server imports in its next attempt, or null if instances must be spawned. The first retry imports the bot
 * without the modules that earlier sessions imported, because perhaps only these modules made forking unsafe.
 */
export function planNextImportAttempt(
  remembered: readonly string[],
  failures: readonly { readonly attempt: ImportAttempt; readonly failure: ImportFailure }[],
): ImportAttempt | null {
  const last = failures.at(-1);
  if (last === undefined) return { level: 'module', modules: remembered };
  if (last.attempt.level === 'libraries') return null;
  if (last.attempt.modules.length > 0) return { level: 'module', modules: [] };
  return last.failure.modules.length > 0 ? { level: 'libraries', modules: last.failure.modules } : null;
}
