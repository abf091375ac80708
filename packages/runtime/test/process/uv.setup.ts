import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const version = '0.13.8';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory that may stay between runs. */
    pythonCache: string;
    python: string | undefined;
    /** Variables that programs of this machine are run with. */
    surroundings: Readonly<Record<string, string | undefined>>;
    /** A folder of programs in which there is uv, and which every account may read; '' where there is no Python. */
    uvFolder: string;
  }
}

/** vitest's global setup: a uv of the Python registry, installed once into the cache of the tests. */
export async function setup(project: TestProject): Promise<void> {
  const { pythonCache: cache, python } = project.getProvidedContext();
  project.provide('uvFolder', await install(cache, python ?? 'python3').catch(() => ''));
}

/** Made aside and put in place at once: what was broken off is made anew. */
async function install(cache: string, python: string): Promise<string> {
  const place = join(cache, `uv-${version}`);
  const folder = join(place, 'bin');
  if (existsSync(join(folder, 'uv'))) return folder;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(`${place}-`);
  try {
    const run = promisify(execFile);
    await run(python, ['-m', 'venv', draft]);
    await run(join(draft, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--no-input', `uv==${version}`]);
    // Builds have accounts of their own.
    await chmod(draft, 0o755);
    await rename(draft, place);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(join(folder, 'uv'))) throw error;
  }
  return folder;
}
