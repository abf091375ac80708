import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPython } from './find-python.ts';
import { openUv } from './uv.ts';

/** What is installed together. None of the vendors' packages exclude each other; some are too large for every machine. */
export type PackageGroup = {
  /** Of pipecat-ai. */
  readonly extras: readonly string[];
  /** That its making wants on the disk. */
  readonly gigabytes: number;
};

/** `missing`: it was not made, and why. */
export type LibraryEnvironment =
  | { readonly kind: 'there'; readonly bin: string; readonly pythonVersion: string }
  | { readonly kind: 'missing'; readonly reason: string };

/** The release that generated code was written for, and what it is checked with beside. */
export const library = '1.14.0';
const beside = ['pipecat-ai-whisker>=2.0.0,<3', 'pyright>=1.1.404,<2', 'validate-pyproject>=0.24,<1'];
const always = ['runner', 'silero', 'webrtc', 'websocket', 'daily', 'livekit', 'rnnoise', 'evals'];

/** A Python environment with the library and a group of vendors' packages, kept in the cache under the hash of its lock. */
export async function openLibraryEnvironment(group: PackageGroup): Promise<LibraryEnvironment> {
  const uv = await openUv();
  const python = await findPython();
  const drafts = await mkdtemp(join(tmpdir(), 'botcli-lock-'));
  try {
    const [asked, lock] = [join(drafts, 'asked.in'), join(drafts, 'lock.txt')];
    const extras = [...new Set([...always, ...group.extras])].sort();
    await writeFile(asked, [`pipecat-ai[${extras}]==${library}`, ...beside, ''].join('\n'));
    const env = { ...uv.environment, UV_PYTHON: python.program };
    const run = (...args: readonly string[]) => promisify(execFile)(uv.program, ['--quiet', ...args], { env });
    await run('pip', 'compile', '--no-header', '--no-annotate', '--output-file', lock, asked);
    const text = await readFile(lock, 'utf8');
    const hash = createHash('sha256').update(`${python.program} ${python.version}\n${text}`).digest('hex').slice(0, 16);
    const environment = join(uv.cache, `pipecat-${hash}`);
    const there = { kind: 'there', bin: join(environment, 'bin'), pythonVersion: python.version } as const;
    // Written last: what was broken off is made anew.
    const mark = join(environment, 'complete');
    if (existsSync(mark)) return there;
    await rm(environment, { recursive: true, force: true });
    const { bavail, bsize } = await statfs(uv.cache);
    const free = (bavail * bsize) / 1e9;
    if (free < group.gigabytes) {
      return { kind: 'missing', reason: `it wants ${group.gigabytes} GB of disk, and ${free.toFixed(1)} GB are free` };
    }
    await run('venv', environment);
    await run('pip', 'sync', '--python', environment, lock);
    await writeFile(mark, '');
    return there;
  } finally {
    await rm(drafts, { recursive: true, force: true });
  }
}
