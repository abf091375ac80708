import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeJsonAtomically } from '../../write-json-atomically.ts';

const schema = z.array(z.string());
const maxModules = 2000;

/** The Python modules that sessions imported, by project. A new fork server imports them before it forks instances. */
export type ImportedModuleStore = {
  readonly of: (project: string) => readonly string[];
  /** Adds modules to the list of a project. Returns how many were not in the list before. */
  readonly add: (project: string, modules: readonly string[]) => number;
  readonly forget: (project: string) => void;
};

/**
 * Opens the stored lists of modules. `onError` is called if a list could not be stored, which only slows down the start of
 * later sessions.
 */
export function openImportedModuleStore(directory: string, onError: (error: unknown) => void): ImportedModuleStore {
  const pathOf = (project: string) => join(directory, `${project}.json`);
  const read = (project: string): readonly string[] => {
    try {
      return schema.parse(JSON.parse(readFileSync(pathOf(project), 'utf8')));
    } catch {
      return [];
    }
  };
  return {
    of: read,
    add: (project, modules) => {
      const known = read(project);
      const all = [...new Set([...known, ...modules])].slice(0, maxModules);
      const added = all.length - known.length;
      if (added === 0) return 0;
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        writeJsonAtomically(pathOf(project), all);
        return added;
      } catch (error) {
        onError(error);
        return 0;
      }
    },
    forget: (project) => rmSync(pathOf(project), { force: true }),
  };
}
