import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { hashDirectory } from '../../directory-hash.ts';
import { readDirectoryTree } from '../../directory-tree.ts';
import { createTraversableDirectory } from '../containment/isolation.ts';
import { runProgramAsAccount } from './interpreter.ts';
import type { PythonInterpreter } from './python-interpreter.ts';

/** The host shim for Python bots, in a directory that every bot can read. */
export type PythonShim = {
  /** Directory that contains the module `bothost_shim`, for `PYTHONPATH`. */
  readonly path: string;
  readonly requirements: readonly string[];
  readonly requiresPython: string;
  /** Compiles the shim for an interpreter, because bots cannot store compiled files and would compile it at each start. */
  readonly compile: (python: PythonInterpreter) => Promise<void>;
};

const projectSchema = z.object({
  project: z.object({ dependencies: z.array(z.string()), 'requires-python': z.string() }),
});

/**
 * Copies the installed shim to the data directory, which bots' accounts can reach. The copy is named by its content, so that
 * running bots keep their version after an upgrade. Rejects if the shim is not installed.
 */
export async function installPythonShim(dataDirectory: string, shimPackage?: string | undefined): Promise<PythonShim> {
  const shipped = shimPackage ?? dirname(createRequire(import.meta.url).resolve('@bothost/python-shim/package.json'));
  const source = join(shipped, 'src');
  const { project } = projectSchema.parse(parse(readFileSync(join(shipped, 'pyproject.toml'), 'utf8')));
  const all = join(dataDirectory, 'shim');
  const path = join(all, (await hashDirectory(join(source, 'bothost_shim'))).slice(0, 16));
  createTraversableDirectory(all);
  if (!existsSync(path)) await copyShim(source, path);
  const compiled = new Map<string, Promise<void>>();

  const compileOnce = async (python: PythonInterpreter): Promise<void> => {
    const marker = join(path, `compiled-${createHash('sha256').update(python.version).digest('hex').slice(0, 8)}`);
    if (existsSync(marker)) return;
    const parameters = ['-I', '-m', 'compileall', '-q', '--invalidation-mode', 'unchecked-hash', path];
    if ((await runProgramAsAccount(python.path, parameters, null)) === null) return;
    for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
      chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
    }
    writeFileSync(marker, '');
  };
  return {
    path,
    requirements: project.dependencies,
    requiresPython: project['requires-python'],
    compile: (python) => {
      const known = compiled.get(python.version) ?? compileOnce(python);
      compiled.set(python.version, known);
      return known;
    },
  };
}

/** Copies the shim under another name and then renames it, so that the copy appears atomically. */
async function copyShim(source: string, path: string): Promise<void> {
  const copy = `${path}.new`;
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy);
  for (const entry of (await readDirectoryTree(source)).entries) {
    if (!entry.path.startsWith('bothost_shim')) continue;
    const target = join(copy, entry.path);
    if (entry.kind === 'directory') mkdirSync(target);
    if (entry.kind === 'file') copyFileSync(join(source, entry.path), target);
    if (entry.kind !== 'link') chmodSync(target, entry.kind === 'directory' ? 0o755 : 0o644);
  }
  chmodSync(copy, 0o755);
  renameSync(copy, path);
}
