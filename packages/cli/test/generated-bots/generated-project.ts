import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { ProjectOptions } from '../../src/scaffold/configuration/fields.ts';
import { resolve } from '../../src/scaffold/configuration/resolve.ts';
import { projectFiles } from '../../src/scaffold/project/project.ts';
import { openUv, type Variables } from '../pipecat/uv.ts';

/** Stands for every key and secret: vendors' packages want one that is not empty. */
export const placeholder = 'placeholder';

/** What a command of a project said, and how it ended. */
export type Finished = { readonly status: number | null; readonly output: string; readonly errors: string };

/** A project on disk, with its `.env` filled in and its dependencies installed. */
export type GeneratedProject = {
  /** The folder `server/`. */
  readonly directory: string;
  /** `uv run` of a program, in a process group of its own, with variables beside those of its `.env`. */
  readonly spawn: (command: readonly string[], variables: Variables) => ChildProcessByStdio<null, Readable, Readable>;
  /** The same, until it ends. */
  readonly run: (command: readonly string[], variables?: Variables) => Promise<Finished>;
  readonly remove: () => Promise<void>;
};

/**
 * Generates a project and does what its README says under "Set up". Its environment is kept in the cache under the hash of
 * its lock: it is installed once.
 */
export async function setUpProject(given: ProjectOptions, groups: readonly string[]): Promise<GeneratedProject> {
  const root = await mkdtemp(join(tmpdir(), 'botcli-project-'));
  // The bots of a service have accounts of their own.
  await chmod(root, 0o755);
  const directory = join(root, 'server');
  await generate(given, root);
  await fillIn(directory);
  const uv = openUv();
  await promisify(execFile)(uv.program, ['lock', '--quiet'], { cwd: directory, env: uv.environment });
  const lock = await readFile(join(directory, 'uv.lock'));
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const env = { ...uv.environment, UV_PROJECT_ENVIRONMENT: join(uv.cache, `project-${hash}`) };
  const sync = ['sync', '--quiet', ...groups.flatMap((group) => ['--group', group])];
  await promisify(execFile)(uv.program, sync, { cwd: directory, env });
  const start: GeneratedProject['spawn'] = (command, variables) =>
    spawn(uv.program, ['run', '--quiet', ...command], {
      cwd: directory,
      env: { ...env, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
  return {
    directory,
    spawn: start,
    run: async (command, variables = {}) => {
      const child = start(command, variables);
      const ended = once(child, 'exit');
      const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      return { status, output, errors };
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

async function generate(given: ProjectOptions, root: string): Promise<void> {
  const { configuration, issues } = resolve(given, 'demo');
  if (configuration === null) throw new Error(JSON.stringify(issues));
  for (const { path, text: content } of projectFiles(configuration)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

/** As a person does it: what stands without a # is filled in. */
async function fillIn(directory: string): Promise<void> {
  const example = await readFile(join(directory, '.env.example'), 'utf8');
  await writeFile(join(directory, '.env'), example.replace(/^(\w+)=$/gm, `$1=${placeholder}`));
}
