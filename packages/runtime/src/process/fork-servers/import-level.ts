/**
 * What a fork server imports before it forks: the bot's module and its libraries, or only libraries, if the module leaves
 * something that forks would share.
 */
export type ImportLevel = 'module' | 'libraries';

export type ImportAttempt = { readonly level: ImportLevel; readonly modules: readonly string[] };

export type ImportFailure = {
  readonly reason: string;
  /** Modules of libraries that were imported before it failed. */
  readonly modules: readonly string[];
};

/**
 * The next attempt after these failures; null when instances must be spawned. Modules that earlier sessions imported
 * are left out first, because the bot itself may be safe without them.
 */
export function nextAttempt(
  remembered: readonly string[],
  failures: readonly { readonly attempt: ImportAttempt; readonly failure: ImportFailure }[],
): ImportAttempt | null {
  const last = failures.at(-1);
  if (last === undefined) return { level: 'module', modules: remembered };
  if (last.attempt.level === 'libraries') return null;
  if (last.attempt.modules.length > 0) return { level: 'module', modules: [] };
  return last.failure.modules.length > 0 ? { level: 'libraries', modules: last.failure.modules } : null;
}
