import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { quoteShellWord } from '@bothost/contract/shell-word';
import { InterruptedError } from '../failure.ts';
import type { CommandIo } from '../io/io.ts';
import type { ProjectConfiguration } from './configuration/configuration.ts';
import { detectPackageManager } from './package-manager.ts';

const projectWritten = 'The project was written.';

export type FollowUpSteps = {
  readonly git: boolean;
  readonly install: boolean;
};

/**
 * Installs packages and creates the git repository for a new project. The configuration is null if only the guides for coding
 * agents were written. A failed step prints a warning and does not undo the project. @throws `InterruptedError` on Ctrl-C
 */
export async function runFollowUpSteps(
  io: CommandIo,
  directory: string,
  steps: FollowUpSteps,
  configuration: ProjectConfiguration | null,
): Promise<void> {
  const run = (command: readonly string[], cwd: string) => runWithWarning(io, command, cwd);
  if (steps.install && configuration === null) {
    io.stderr.write('Nothing to install: no bot was created.\n');
  }
  if (steps.install && configuration !== null) {
    await installBot(io, join(directory, 'server'), configuration);
    const manager = detectPackageManager(directory, io.environment);
    if (configuration.generate_client) await run([manager, 'install'], join(directory, 'client'));
  }
  // Create no repository if the project is already inside a repository.
  if (!steps.git || (await exitStatus(io, ['git', 'rev-parse', '--is-inside-work-tree'], directory)) === 0) return;
  if (!(await run(['git', 'init', '--quiet'], directory))) return;
  if (!(await run(['git', 'add', '--all'], directory))) return;
  await run(['git', 'commit', '--quiet', '--message', 'Create the project with botcli init'], directory);
}

/** Installs the bot's packages with uv. If uv is missing, uses pip and the virtual environment that uv would create. */
async function installBot(io: CommandIo, server: string, configuration: ProjectConfiguration): Promise<void> {
  if ((await exitStatus(io, ['uv', '--version'], server)) !== null) {
    await runWithWarning(io, ['uv', 'sync'], server);
    return;
  }
  io.stderr.write('uv is not installed; using pip.\n');
  const { listDependencies } = await import('./project/pyproject.ts');
  const { createProjectPlan: createPlan } = await import('./configuration/plan.ts');
  const plan = createPlan(configuration);
  if (await isPythonOlder(io, plan.lowest.python, server)) {
    const reason = `the bot needs Python ${plan.lowest.python}, and python3 is older`;
    const remedy = 'Install uv, which downloads a newer Python, or a newer Python.';
    io.stderr.write(`warning: Nothing was installed: ${reason}. ${remedy} ${projectWritten}\n`);
    return;
  }
  if (!(await runWithWarning(io, ['python3', '-m', 'venv', '.venv'], server))) return;
  const pip = [join('.venv', 'bin', 'python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  await runWithWarning(io, [...pip, ...listDependencies(plan)], server);
}

/**
 * Returns whether python3 is older than `lowest`. On an older Python, pip silently skips packages. Returns false if python3 is
 * missing, because the next command reports that.
 */
async function isPythonOlder(io: CommandIo, lowest: string, cwd: string): Promise<boolean> {
  const script = `import sys; sys.exit(sys.version_info < (${lowest.split('.').join(', ')}))`;
  return (await exitStatus(io, ['python3', '-c', script], cwd)) === 1;
}

async function runWithWarning(io: CommandIo, command: readonly string[], cwd: string): Promise<boolean> {
  const shown = command.map(quoteShellWord).join(' ');
  io.stderr.write(`${shown} ...\n`);
  const status = await exitStatus(io, command, cwd, (text) => io.stderr.write(text));
  if (status === 0) return true;
  const reason = status === null ? 'could not be started' : `exited with status ${status}`;
  io.stderr.write(`warning: ${shown} ${reason} in ${cwd}. ${projectWritten}\n`);
  return false;
}

/**
 * Runs a program and returns its exit status, or null if the program could not be started or a signal killed it. `say` receives
 * the error output. @throws `InterruptedError` on Ctrl-C
 */
async function exitStatus(
  io: CommandIo,
  [program = '', ...args]: readonly string[],
  cwd: string,
  say: (text: string) => void = () => {},
): Promise<number | null> {
  const status = await new Promise<number | null>((settle) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], signal: io.signal });
    child.stderr.on('data', (chunk) => say(String(chunk)));
    child.on('error', () => settle(null)).on('close', settle);
  });
  if (io.signal.aborted) throw new InterruptedError(projectWritten);
  return status;
}
