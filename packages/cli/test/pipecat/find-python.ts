import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

/** A Python interpreter of this machine; `version` is like `3.12`. */
export type Interpreter = { readonly program: string; readonly version: string };

/**
 * Python versions to look for, in order of preference. Excludes 3.11, the minimum version of generated projects, because the
 * Python packages of some speech and language services require a later version.
 */
const wanted = ['3.13', '3.12', '3.14'];

/** Finds the interpreter that BOTHOST_TEST_PYTHON names, or else the preferred version in PATH or in pyenv. */
export async function findPython(): Promise<Interpreter> {
  const named = inject('python');
  if (named !== undefined) return ask(named);
  const kept = join(homedir(), '.pyenv/versions');
  const versions = await readdir(kept).catch(() => []);
  const candidates = wanted.flatMap((version) => [
    `python${version}`,
    ...versions.filter((name) => name.startsWith(`${version}.`)).map((name) => join(kept, name, 'bin/python3')),
  ]);
  for (const program of candidates) {
    // Run the program, because a pyenv shim can exist without an interpreter.
    const found = await ask(program).catch(() => null);
    if (found !== null) return found;
  }
  return ask('python3');
}

async function ask(name: string): Promise<Interpreter> {
  const script = 'import sys, venv; print(sys.executable, "%d.%d" % sys.version_info[:2])';
  const { stdout } = await promisify(execFile)(name, ['-c', script]);
  const [program = '', version = ''] = stdout.trim().split(' ');
  return { program, version };
}
