import { delimiter, join } from 'node:path';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A cache directory that can be kept between runs. */
    pythonCache: string;
    python: string | undefined;
    surroundings: Readonly<Record<string, string | undefined>>;
    /** Directory in which the global setup installed uv. Every user can read it. Empty if no Python is installed. */
    uvFolder: string;
  }
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Runs uv as the READMEs of generated projects do. */
export type UvInstallation = {
  readonly program: string;
  /** The environment variables with which uv runs. They keep downloads in the cache directory. */
  readonly environment: EnvironmentVariables;
  readonly cache: string;
};

/** uv ignores packages that were released after this date, so that lock files are reproducible. */
const resolvedAt = '2026-11-01T00:00:00Z';

/** @throws Error if there is no Python with which uv can be installed */
export function requireUvInstallation(): UvInstallation {
  const [folder, cache, surroundings] = [inject('uvFolder'), inject('pythonCache'), inject('surroundings')];
  if (folder === '') throw new Error('These tests need Python with venv, and access to the Python registry.');
  const environment = {
    ...surroundings,
    PATH: `${folder}${delimiter}${surroundings['PATH']}`,
    UV_CACHE_DIR: join(cache, 'uv'),
    UV_EXCLUDE_NEWER: resolvedAt,
    UV_PYTHON: inject('python') ?? 'python3',
    UV_PYTHON_DOWNLOADS: 'never',
  };
  return { program: join(folder, 'uv'), environment, cache };
}
