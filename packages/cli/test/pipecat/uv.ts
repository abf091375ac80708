import { delimiter, join } from 'node:path';
import { inject } from 'vitest';

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

/** Variables of a program. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The program of which the READMEs of generated projects speak. */
export type Uv = {
  readonly program: string;
  /** What it is run with: what it downloads stays in the cache. */
  readonly environment: Variables;
  readonly cache: string;
};

/** What it takes is not younger than this, so that a lock made tomorrow is the one made today. */
const resolvedAt = '2026-11-01T00:00:00Z';

/** @throws Error where there is no Python to install it with */
export function openUv(): Uv {
  const [folder, cache, surroundings] = [inject('uvFolder'), inject('pythonCache'), inject('surroundings')];
  if (folder === '') throw new Error('these tests need Python with venv, and its registry');
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
