import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPython, type Interpreter } from './find-python.ts';
import { requireUvInstallation, type UvInstallation } from './uv.ts';

/**
 * A group of packages that are installed into one environment. The packages of all vendors are compatible with each other, but
 * not every machine has the disk space for all of them.
 */
export type PackageGroup = {
  readonly extras: readonly string[];
  readonly gigabytes: number;
};

/** A Python environment, or the reason why it could not be created (`missing`). */
export type PipecatEnvironment =
  | { readonly kind: 'there'; readonly bin: string; readonly pythonVersion: string }
  | { readonly kind: 'missing'; readonly reason: string };

/** The pipecat-ai release that generated code is written for, and the tools that check the code. */
export const libraryVersion = '1.14.0';
const beside = ['pipecat-ai-whisker>=2.0.0,<3', 'pyright>=1.1.404,<2', 'validate-pyproject>=0.24,<1'];
const always = ['runner', 'silero', 'webrtc', 'websocket', 'daily', 'livekit', 'rnnoise', 'evals'];

/**
 * Prepares a Python environment with pipecat-ai and a group of vendors' packages. The environment is cached by the hash of its
 * lock file.
 */
export async function preparePipecatEnvironment(group: PackageGroup): Promise<PipecatEnvironment> {
  const uv = requireUvInstallation();
  const python = await findPython();
  const env = { ...uv.environment, UV_PYTHON: python.program };
  const run = (...args: readonly string[]) => promisify(execFile)(uv.program, ['--quiet', ...args], { env });
  const lock = await lockFile(group, uv, python, run);
  const hash = hashOf(`${python.program} ${python.version}\n${await readFile(lock, 'utf8')}`);
  const environment = join(uv.cache, `pipecat-${hash}`);
  const ready = { kind: 'there', bin: join(environment, 'bin'), pythonVersion: python.version } as const;
  // The file that marks a complete installation. It is written last, so that an interrupted installation is repeated.
  const mark = join(environment, 'complete');
  if (existsSync(mark)) return ready;
  await rm(environment, { recursive: true, force: true });
  const { bavail, bsize } = await statfs(uv.cache);
  const free = (bavail * bsize) / 1e9;
  if (free < group.gigabytes) {
    return {
      kind: 'missing',
      reason: `it needs ${group.gigabytes} GB of disk space, and ${free.toFixed(1)} GB are free`,
    };
  }
  await run('venv', environment);
  await run('pip', 'sync', '--python', environment, lock);
  await writeFile(mark, '');
  return ready;
}

/**
 * Resolves the exact versions of a group of packages. The lock file is kept in the cache, so the same requirements, date and
 * tools result in the same versions.
 */
async function lockFile(
  group: PackageGroup,
  uv: UvInstallation,
  python: Interpreter,
  run: (...args: readonly string[]) => Promise<unknown>,
): Promise<string> {
  const extras = [...new Set([...always, ...group.extras])].sort();
  const requirements = [`pipecat-ai[${extras}]==${libraryVersion}`, ...beside, ''].join('\n');
  const inputs = [uv.program, uv.environment['UV_EXCLUDE_NEWER'], python.program, python.version, requirements];
  const lock = join(uv.cache, `pipecat-lock-${hashOf(inputs.join('\n'))}.txt`);
  if (existsSync(lock)) return lock;
  const drafts = await mkdtemp(join(uv.cache, 'pipecat-lock-'));
  try {
    const [asked, draft] = [join(drafts, 'asked.in'), join(drafts, 'lock.txt')];
    await writeFile(asked, requirements);
    await run('pip', 'compile', '--no-header', '--no-annotate', '--output-file', draft, asked);
    await rename(draft, lock);
    return lock;
  } finally {
    await rm(drafts, { recursive: true, force: true });
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
