import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Given } from '../configuration/fields.ts';
import { resolve } from '../configuration/resolve.ts';
import { projectFiles } from '../project/project.ts';

const run = promisify(execFile);
const uvVersion = '0.13.8';
/** What uv takes is not younger than this, so that a lock made tomorrow is the one made today. */
const resolvedAt = '2026-11-01T00:00:00Z';
/** Stands for every key and secret: vendors' packages want one that is not empty. */
export const placeholder = 'placeholder';

/** What a command of a project said, and how it ended. */
export type Finished = { readonly status: number | null; readonly output: string; readonly errors: string };

/** A bot that runs as the project's README says. */
export type LocalBot = {
  /** `host:port`. */
  readonly address: string;
  /** What it has written so far. */
  readonly output: () => string;
  readonly stop: () => Promise<void>;
};

/** A project on disk, with its `.env` filled in and its dependencies installed. */
export type GeneratedProject = {
  /** The folder `server/`. */
  readonly directory: string;
  /** Runs a program of the project, with variables beside those of its `.env`. */
  readonly run: (command: readonly string[], variables?: Variables) => Promise<Finished>;
  /** `uv run bot.py`, until it answers; `port` is null for the one that the README names. */
  readonly startBot: (port: number | null, variables: Variables) => Promise<LocalBot>;
  readonly remove: () => Promise<void>;
};
type Variables = Readonly<Record<string, string>>;

/** Where things stay between runs, the interpreter, and the variables that programs of this machine are run with. */
export type PythonSetting = {
  readonly cache: string;
  readonly python: string | undefined;
  readonly surroundings: Readonly<Record<string, string | undefined>>;
};

/**
 * Generates a project and does what its README says under "Set up". Its environment is kept in the cache under the hash of
 * its lock: it is installed once.
 */
export async function setUpProject(
  given: Given,
  groups: readonly string[],
  setting: PythonSetting,
): Promise<GeneratedProject> {
  const root = await mkdtemp(join(tmpdir(), 'botcli-project-'));
  // The service's bots have accounts of their own.
  await chmod(root, 0o755);
  const { configuration, issues } = resolve(given, 'demo');
  if (configuration === null) throw new Error(JSON.stringify(issues));
  for (const { path, text: content } of projectFiles(configuration)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  const directory = join(root, 'server');
  await fillIn(directory);
  const uv = await uvOf(setting);
  const base = {
    ...setting.surroundings,
    PATH: `${dirname(uv)}${delimiter}${setting.surroundings['PATH']}`,
    UV_CACHE_DIR: join(setting.cache, 'uv'),
    UV_EXCLUDE_NEWER: resolvedAt,
    UV_PYTHON_DOWNLOADS: 'never',
    UV_PYTHON: setting.python ?? 'python3',
  };
  await run(uv, ['lock', '--quiet'], { cwd: directory, env: base });
  const hash = createHash('sha256')
    .update(await readFile(join(directory, 'uv.lock')))
    .digest('hex')
    .slice(0, 16);
  const environment = { ...base, UV_PROJECT_ENVIRONMENT: join(setting.cache, `project-${hash}`) };
  const chosen = groups.flatMap((group) => ['--group', group]);
  await run(uv, ['sync', '--quiet', ...chosen], { cwd: directory, env: environment });
  const spawned = (command: readonly string[], variables: Variables) =>
    spawn(uv, ['run', '--quiet', ...command], {
      cwd: directory,
      env: { ...environment, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
  return {
    directory,
    run: async (command, variables = {}) => {
      const child = spawned(command, variables);
      const [output, errors, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ]);
      return { status, output, errors };
    },
    startBot: async (port, variables) => {
      const child = spawned(['bot.py', ...(port === null ? [] : ['--port', String(port)])], variables);
      const lines: string[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => lines.push(String(piece)));
      const exited = once(child, 'exit');
      const address = `localhost:${port ?? 7860}`;
      const output = () => lines.join('');
      const stop = async () => {
        // The group: uv and the bot below it.
        if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
        await exited;
      };
      await answers(`http://${address}/status`, () => child.exitCode !== null).catch(async (error: unknown) => {
        await stop();
        throw new Error(`the bot does not answer: ${error}\n${output()}`);
      });
      return { address, output, stop };
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** As a person does it: what stands without a # is filled in. */
async function fillIn(directory: string): Promise<void> {
  const example = await readFile(join(directory, '.env.example'), 'utf8');
  await writeFile(join(directory, '.env'), example.replace(/^(\w+)=$/gm, `$1=${placeholder}`));
}

/** A uv of the Python registry, kept in the cache. */
async function uvOf({ cache, python }: PythonSetting): Promise<string> {
  const place = join(cache, `uv-${uvVersion}`);
  const uv = join(place, 'bin/uv');
  if (existsSync(uv)) return uv;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(`${place}-`);
  await run(python ?? 'python3', ['-m', 'pip', 'install', '--quiet', '--prefix', draft, `uv==${uvVersion}`]);
  await rename(draft, place).catch(async () => rm(draft, { recursive: true, force: true }));
  return uv;
}

async function answers(url: string, gone: () => boolean): Promise<void> {
  for (;;) {
    const response = await fetch(url).catch(() => null);
    if (response?.ok === true) return;
    if (gone()) throw new Error('it has ended');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
