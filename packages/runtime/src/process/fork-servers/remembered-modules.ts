import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../instances/instance-record.ts';

const schema = z.array(z.string());
const LIMIT = 2000;

/** Modules that sessions of a project imported, so that its next fork server imports them before it forks. */
export type RememberedModules = {
  readonly of: (project: string) => readonly string[];
  readonly add: (project: string, modules: readonly string[]) => void;
  readonly forget: (project: string) => void;
};

/**
 * `onError` is called if the list could not be stored. The list only makes sessions start faster, so nothing else
 * fails.
 */
export function openRememberedModules(directory: string, onError: (error: unknown) => void): RememberedModules {
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
      const all = [...new Set([...known, ...modules])].slice(0, LIMIT);
      if (all.length === known.length) return;
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        replaceFile(pathOf(project), JSON.stringify(all));
      } catch (error) {
        onError(error);
      }
    },
    forget: (project) => rmSync(pathOf(project), { force: true }),
  };
}
