import { readdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrorCode } from './error-code.ts';
import { daysBefore } from './retention.ts';
import { isUuid } from './uuid.ts';

const namesAtOnce = 500;

/**
 * Removes files without a database row, for example after a restore, from the directories of agents. Keeps files of the last day,
 * because their rows may not be stored yet, and files whose names do not match. If some directories cannot be searched, searches the
 * others, and then throws the first error.
 */
export async function removeOrphans(
  directory: string,
  search: {
    readonly now: Date;
    readonly matches: (name: string) => boolean;
    readonly findKnown: (names: readonly string[]) => Promise<ReadonlySet<string>>;
    readonly remove: (path: string) => Promise<unknown>;
  },
): Promise<void> {
  const recentMs = daysBefore(search.now, 1).getTime();
  const removeFromAgent = async (ofAgent: string) => {
    const names = (await listNames(ofAgent)).filter(search.matches);
    for (let from = 0; from < names.length; from += namesAtOnce) {
      const some = names.slice(from, from + namesAtOnce);
      const known = await search.findKnown(some);
      for (const path of some.filter((name) => !known.has(name)).map((name) => join(ofAgent, name))) {
        // A file that is moved here keeps the time of its last write.
        const changedMs = (await stat(path).catch(() => null))?.ctimeMs ?? recentMs;
        if (changedMs < recentMs) await search.remove(path);
      }
    }
    await rmdir(ofAgent).catch(() => undefined);
  };
  const errors: unknown[] = [];
  for (const agentId of (await listNames(directory)).filter(isUuid)) {
    await removeFromAgent(join(directory, agentId)).catch((error: unknown) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}

async function listNames(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (hasErrorCode(error, 'ENOENT')) return [];
    throw error;
  });
}
