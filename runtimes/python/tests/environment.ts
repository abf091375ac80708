import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const folder = dirname(import.meta.dirname);
const interpreters = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
const oldestMinor = 11;

export type PythonTestEnvironment =
  | { readonly kind: 'ready'; readonly bin: string }
  /** `reason` is one line that says why no environment can be created. */
  | { readonly kind: 'missing'; readonly reason: string };

/**
 * Creates, in `cacheDirectory`, a Python environment for the tests of `bothost_shim`, the package that runs Python bots. Later
 * calls with the same Python version and requirements reuse the environment. `interpreter` is the path of a Python interpreter;
 * if undefined, the first suitable interpreter in PATH is used. Rejects if an installation fails.
 */
export async function preparePythonTestEnvironment(
  cacheDirectory: string,
  interpreter: string | undefined,
  uvFolder: string,
): Promise<PythonTestEnvironment> {
  const python = await firstUsable(interpreter === undefined ? interpreters : [interpreter]);
  if (python === null) {
    return {
      kind: 'missing',
      reason: `Python 3.${oldestMinor} or later with venv is needed, as in Debian's python3-venv`,
    };
  }
  const requirements = [join(folder, 'tests/requirements.txt'), join(folder, 'pyproject.toml')];
  const hash = createHash('sha256').update(python.version);
  for (const file of requirements) hash.update(await readFile(file));
  const environment = join(cacheDirectory, `python-shim-${hash.digest('hex').slice(0, 16)}`);
  const bin = join(environment, 'bin');
  // This file marks a complete environment. It is written last, so that an interrupted installation is repeated.
  const mark = join(environment, 'complete');
  if (existsSync(mark)) return { kind: 'ready', bin };
  await rm(environment, { recursive: true, force: true });
  await mkdir(cacheDirectory, { recursive: true });
  await run(python.path, ['-m', 'venv', environment]);
  const interpreterInside = join(bin, 'python');
  const install = ['pip', 'install', '--quiet', '--python', interpreterInside];
  const shim = await ownRequirements(interpreterInside);
  await run(join(uvFolder, 'uv'), [...install, '-r', join(folder, 'tests/requirements.txt'), ...shim]);
  await writeFile(mark, '');
  return { kind: 'ready', bin };
}

type Interpreter = { readonly path: string; readonly version: string };

async function firstUsable(candidates: readonly string[]): Promise<Interpreter | null> {
  for (const path of candidates) {
    const code = 'import ensurepip, sys, venv; print(sys.version_info.major, sys.version_info.minor, sys.version)';
    const result = await run(path, ['-c', code]).catch(() => null);
    const [major, minor] = (result?.stdout ?? '').split(' ').map(Number);
    if (result !== null && major === 3 && minor !== undefined && minor >= oldestMinor) {
      return { path, version: result.stdout };
    }
  }
  return null;
}

/** The dependencies of `bothost_shim`. The package itself is not installed, because the tests run its sources. */
async function ownRequirements(python: string): Promise<readonly string[]> {
  const code =
    'import json, tomllib; print(json.dumps(tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"]))';
  const { stdout } = await run(python, ['-c', code], { cwd: folder });
  return JSON.parse(stdout) as string[];
}
