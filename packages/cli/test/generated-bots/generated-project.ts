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
import { resolveConfiguration } from '../../src/scaffold/configuration/resolve.ts';
import { generateProjectFiles } from '../../src/scaffold/project/project.ts';
import { type EnvironmentVariables, requireUvInstallation } from '../pipecat/uv.ts';

/** The value of every API key and secret of a project. Vendors' packages refuse an empty key. */
export const placeholderSecret = 'placeholder';

export type ProcessResult = { readonly status: number | null; readonly output: string; readonly errors: string };

export type GeneratedProject = {
  readonly directory: string;
  /** Starts a program with `uv run` in its own process group, with additional environment variables. */
  readonly spawn: (
    command: readonly string[],
    variables: EnvironmentVariables,
  ) => ChildProcessByStdio<null, Readable, Readable>;
  readonly run: (command: readonly string[], variables?: EnvironmentVariables) => Promise<ProcessResult>;
  readonly remove: () => Promise<void>;
};

/**
 * Generates a project and follows the installation steps of its README. The Python environment is cached by the hash of the
 * project's lock file. `change` may edit the files in the directory `server` before the installation.
 */
export async function setUpProject(
  given: ProjectOptions,
  groups: readonly string[],
  change: (directory: string) => Promise<void> = async () => undefined,
): Promise<GeneratedProject> {
  const root = await mkdtemp(join(tmpdir(), 'botcli-project-'));
  // The service runs bots under other Unix accounts, which must be able to read the project.
  await chmod(root, 0o755);
  const directory = join(root, 'server');
  await generate(given, root);
  await fillIn(directory);
  await change(directory);
  const uv = requireUvInstallation();
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
  const { configuration, issues } = resolveConfiguration(given, 'demo');
  if (configuration === null) throw new Error(JSON.stringify(issues));
  for (const { path, text: content } of generateProjectFiles(configuration)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

/** Writes `.env` with a placeholder for each variable that is not commented out in `.env.example`, as the README says. */
async function fillIn(directory: string): Promise<void> {
  const example = await readFile(join(directory, '.env.example'), 'utf8');
  await writeFile(join(directory, '.env'), example.replace(/^(\w+)=$/gm, `$1=${placeholderSecret}`));
}
