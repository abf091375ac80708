import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Interrupted } from '../failure.ts';
import type { Io } from '../io/io.ts';
import type { Configuration } from './configuration/configuration.ts';
import { packageManagerFor } from './package-manager.ts';
import { shellWord } from './shell-word.ts';

const standing = 'The project itself was written.';

export type FollowUp = {
  readonly git: boolean;
  readonly install: boolean;
};

/**
 * What can be done for a project once it is there; without a configuration there are guides only, and nothing to install.
 * What fails here is said and does not undo the project: it can be done again by hand. Nor does Ctrl-C, which ends it.
 */
export async function followUp(
  world: Io,
  directory: string,
  asked: FollowUp,
  configuration: Configuration | null,
): Promise<void> {
  const run = (line: readonly string[], place: string) => runQuietly(world, line, place);
  if (asked.install && configuration === null)
    world.stderr.write('There is nothing to install yet: no bot was made.\n');
  if (asked.install && configuration !== null) {
    await installBot(world, join(directory, 'server'), configuration);
    const manager = packageManagerFor(directory, world.environment);
    if (configuration.generate_client) await run([manager, 'install'], join(directory, 'client'));
  }
  // A repository within a repository is nobody's wish.
  if (!asked.git || (await ends(world, ['git', 'rev-parse', '--is-inside-work-tree'], directory)) === 0) return;
  if (!(await run(['git', 'init', '--quiet'], directory))) return;
  if (!(await run(['git', 'add', '--all'], directory))) return;
  await run(['git', 'commit', '--quiet', '--message', 'A bot project, made by botcli init'], directory);
}

/** By uv, or by pip into the place where uv would put it. */
async function installBot(world: Io, server: string, configuration: Configuration): Promise<void> {
  if ((await ends(world, ['uv', '--version'], server)) !== null) {
    await runQuietly(world, ['uv', 'sync'], server);
    return;
  }
  world.stderr.write('uv is not installed; using pip.\n');
  const { dependenciesOf } = await import('./project/pyproject.ts');
  const { planOf } = await import('./configuration/plan.ts');
  const plan = planOf(configuration);
  if (await isOlderPython(world, plan.lowest.python, server)) {
    const need = `the bot needs Python ${plan.lowest.python}, and python3 is older`;
    const way = 'Install uv, which brings it, or a newer Python.';
    world.stderr.write(`warning: Nothing was installed: ${need}. ${way} ${standing}\n`);
    return;
  }
  if (!(await runQuietly(world, ['python3', '-m', 'venv', '.venv'], server))) return;
  const pip = [join('.venv', 'bin', 'python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  await runQuietly(world, [...pip, ...dependenciesOf(plan)], server);
}

/** pip leaves packages out without a word on a Python that is older than they want. No python3 at all is told later. */
async function isOlderPython(world: Io, lowest: string, place: string): Promise<boolean> {
  const question = `import sys; sys.exit(sys.version_info < (${lowest.split('.').join(', ')}))`;
  return (await ends(world, ['python3', '-c', question], place)) === 1;
}

async function runQuietly(world: Io, line: readonly string[], place: string): Promise<boolean> {
  const shown = line.map(shellWord).join(' ');
  world.stderr.write(`${shown} ...\n`);
  const status = await ends(world, line, place, (text) => world.stderr.write(text));
  if (status === 0) return true;
  const why = status === null ? 'it could not be started' : `it ended with ${status}`;
  world.stderr.write(`warning: ${shown} in ${place}: ${why}. ${standing}\n`);
  return false;
}

/** The exit status; null when there is no such program. @throws Interrupted on Ctrl-C */
async function ends(
  world: Io,
  [program = '', ...args]: readonly string[],
  cwd: string,
  say: (text: string) => void = () => {},
): Promise<number | null> {
  const status = await new Promise<number | null>((settle) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], signal: world.signal });
    child.stderr.on('data', (chunk) => say(String(chunk)));
    child.on('error', () => settle(null)).on('close', settle);
  });
  if (!world.signal.aborted) return status;
  world.stderr.write(`${standing}\n`);
  throw new Interrupted();
}
