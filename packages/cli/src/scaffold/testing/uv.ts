import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory that may stay between runs. */
    pythonCache: string;
    python: string | undefined;
    /** Variables that programs of this machine are run with. */
    surroundings: Readonly<Record<string, string | undefined>>;
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

const version = '0.13.8';
/** What it takes is not younger than this, so that a lock made tomorrow is the one made today. */
const resolvedAt = '2026-11-01T00:00:00Z';

/** A uv of the Python registry, kept in the cache. */
export async function openUv(): Promise<Uv> {
  const [cache, python, surroundings] = [inject('pythonCache'), inject('python') ?? 'python3', inject('surroundings')];
  const place = join(cache, `uv-${version}`);
  const program = join(place, 'bin/uv');
  if (!existsSync(program)) await install(cache, place, python);
  const environment = {
    ...surroundings,
    PATH: `${dirname(program)}${delimiter}${surroundings['PATH']}`,
    UV_CACHE_DIR: join(cache, 'uv'),
    UV_EXCLUDE_NEWER: resolvedAt,
    UV_PYTHON: python,
    UV_PYTHON_DOWNLOADS: 'never',
  };
  return { program, environment, cache };
}

/** Made aside and put in place at once: what was broken off is made anew. */
async function install(cache: string, place: string, python: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(`${place}-`);
  const run = promisify(execFile);
  await run(python, ['-m', 'venv', draft]);
  await run(join(draft, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--no-input', `uv==${version}`]);
  // The builds of a service have accounts of their own.
  await chmod(draft, 0o755);
  await rename(draft, place).catch(() => rm(draft, { recursive: true, force: true }));
}
