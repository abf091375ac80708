import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { installUv } from '../../src/process/projects/install-uv.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Directory in which uv may be kept between test runs. */
    pythonCache: string;
    python: string | undefined;
    surroundings: Readonly<Record<string, string | undefined>>;
    /** Path of a directory that contains uv and that every account can read. Empty string if uv could not be installed. */
    uvFolder: string;
  }
}

/** Global setup of vitest: installs uv like the service, but into the cache of the tests. */
export async function setup(project: TestProject): Promise<void> {
  const { pythonCache, python = 'python3', surroundings } = project.getProvidedContext();
  project.provide('uvFolder', await install(pythonCache, python, surroundings).catch(() => ''));
}

async function install(cache: string, python: string, environment: Readonly<Record<string, string | undefined>>) {
  const options = { env: { ...environment } };
  const { stdout } = await promisify(execFile)(python, ['-c', 'import sys; print(sys.executable)'], options);
  const { signal } = new AbortController();
  return dirname(await installUv({ python: stdout.trim(), toolsDirectory: join(cache, 'tools'), environment, signal }));
}
