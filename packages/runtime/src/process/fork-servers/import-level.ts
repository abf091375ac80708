/**
 * What a fork server imports before it forks: the bot's module and its libraries, or only the libraries if the module
 * leaves something open that forks would share.
 */
export type ImportLevel = 'module' | 'libraries';

export type ImportAttempt = { readonly level: ImportLevel; readonly modules: readonly string[] };

export type ImportFailure = {
  readonly reason: string;
  /** Library modules that had been imported before the failure. */
  readonly modules: readonly string[];
};

/**
 * The next attempt after these failures, or null if instances must be spawned. The first retry omits modules that
 * earlier sessions imported, because the bot itself may be safe to fork without them.
 */
export function nextImportAttempt(
  remembered: readonly string[],
  failures: readonly { readonly attempt: ImportAttempt; readonly failure: ImportFailure }[],
): ImportAttempt | null {
  const last = failures.at(-1);
  if (last === undefined) return { level: 'module', modules: remembered };
  if (last.attempt.level === 'libraries') return null;
  if (last.attempt.modules.length > 0) return { level: 'module', modules: [] };
  return last.failure.modules.length > 0 ? { level: 'libraries', modules: last.failure.modules } : null;
}
