import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const version = '0.13.8';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory that may be kept between runs. */
    pythonCache: string;
    python: string | undefined;
    /** Environment of this machine's programs. */
    surroundings: Readonly<Record<string, string | undefined>>;
    /** A directory with uv that every account can read; '' if there is no Python. */
    uvFolder: string;
  }
}

/** Global setup of vitest: installs uv from the Python package index into the cache of the tests, once. */
export async function setup(project: TestProject): Promise<void> {
  const { pythonCache: cache, python } = project.getProvidedContext();
  project.provide('uvFolder', await install(cache, python ?? 'python3').catch(() => ''));
}

/** Installs into a staging directory and renames it, so that an interrupted installation is repeated. */
async function install(cache: string, python: string): Promise<string> {
  const target = join(cache, `uv-${version}`);
  const folder = join(target, 'bin');
  if (existsSync(join(folder, 'uv'))) return folder;
  await mkdir(cache, { recursive: true });
  const staging = await mkdtemp(`${target}-`);
  try {
    const run = promisify(execFile);
    await run(python, ['-m', 'venv', staging]);
    await run(join(staging, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--no-input', `uv==${version}`]);
    // Builds have their own accounts.
    await chmod(staging, 0o755);
    await rename(staging, target);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    if (!existsSync(join(folder, 'uv'))) throw error;
  }
  return folder;
}
