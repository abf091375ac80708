import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { PrepareError } from '../../runtime.ts';
import type { BuildCommand } from './builder.ts';
import { readProjectFile } from './project-file.ts';
import type { Python } from './python-interpreter.ts';
import type { PythonProject } from './python-project.ts';

/** Raised when environments are made in another way, so that old ones are not taken for new ones. */
const VERSION = 1;

/** `uv`: its path; null: pip of the interpreter itself. */
export type PythonTools = { readonly python: Python; readonly uv: string | null };

/**
 * Names an environment by all that decides what is in it: tool and interpreter, the dependency files, what the shim asks
 * for, and the project itself where parts of it are installed.
 */
export function environmentKey(
  directory: string,
  id: string,
  project: PythonProject,
  tools: PythonTools,
  shimRequirements: readonly string[],
): string {
  const hash = createHash('sha256');
  const { path, version } = tools.python;
  const tool = tools.uv === null ? 'pip' : 'uv';
  hash.update(JSON.stringify([VERSION, tool, path, version, process.arch, project.dependencies, shimRequirements]));
  for (const file of project.files) hash.update(`\0${file}\0`).update(readProjectFile(directory, file));
  if (project.isLocal) hash.update(`\0${id}`);
  return hash.digest('hex').slice(0, 32);
}

export type EnvironmentPlace = {
  /** Where it is made, and stays. */
  readonly environment: string;
  readonly project: string;
  /** A file that the build may write and that is read again by it alone. */
  readonly constraints: string;
  /** Files that the service wrote: what the shim asks for, and the project where no file of its own says it. */
  readonly shimRequirements: string;
  readonly projectRequirements: string;
};

/** Prints what is installed in the form of constraints. */
const FREEZE = `import importlib.metadata, sys
found = {d.metadata['Name']: d.version for d in importlib.metadata.distributions() if d.metadata['Name']}
open(sys.argv[1], 'w').write(''.join(f'{name}=={version}\\n' for name, version in sorted(found.items())))`;

/**
 * What makes an environment, command by command. The project is not installed, only what it depends on: it runs from its
 * directory, whose files must not pass for those of Python and pip (-I, -P). What the shim asks for comes last and may
 * change nothing of what is there. Throws `PrepareError` where the tool cannot tell what to install.
 */
export function environmentCommands(
  project: PythonProject,
  tools: PythonTools,
  place: EnvironmentPlace,
): readonly BuildCommand[] {
  const python = join(place.environment, 'bin', 'python');
  const { uv } = tools;
  const command = (title: string, ...words: readonly string[]): BuildCommand => ({
    title,
    command: words,
    directory: place.project,
    variables: { UV_PROJECT_ENVIRONMENT: place.environment, VIRTUAL_ENV: place.environment },
  });
  const install = (title: string, ...what: readonly string[]): BuildCommand =>
    uv === null
      ? command(`pip install ${title}`, python, '-P', '-m', 'pip', 'install', '--no-input', ...what)
      : command(`uv pip install ${title}`, uv, 'pip', 'install', '--python', python, ...what);
  const create =
    uv === null
      ? command('python -m venv', tools.python.path, '-I', '-m', 'venv', place.environment)
      : command('uv venv', uv, 'venv', '--no-project', '--python', tools.python.path, place.environment);
  return [
    create,
    ...projectCommands(project, tools, place, command, install),
    command('what is installed', python, '-P', '-c', FREEZE, place.constraints),
    install('what the host shim needs', '--quiet', '-c', place.constraints, '-r', place.shimRequirements),
  ];
}

type MakeCommand = (title: string, ...words: readonly string[]) => BuildCommand;

function projectCommands(
  project: PythonProject,
  tools: PythonTools,
  place: EnvironmentPlace,
  command: MakeCommand,
  install: MakeCommand,
): readonly BuildCommand[] {
  const { dependencies } = project;
  const { uv } = tools;
  switch (dependencies.kind) {
    case 'uv-lock': {
      if (uv === null) throw new Error('a lock of uv without uv');
      // The interpreter is given, as a .python-version file may name another one.
      const what = ['--frozen', '--no-dev', '--no-install-project', '--no-editable', '--python', tools.python.path];
      return [command('uv sync --frozen', uv, 'sync', ...what)];
    }
    case 'requirements':
      return [install('-r requirements.txt', '-r', 'requirements.txt')];
    case 'pyproject': {
      if (uv !== null) return [install('-r pyproject.toml', '-r', 'pyproject.toml')];
      if (dependencies.list === null) {
        throw new PrepareError(
          'pyproject.toml leaves its dependencies to its build backend ("dynamic"), which takes uv: install uv for the service, or write the dependencies to requirements.txt.',
        );
      }
      return dependencies.list.length === 0 ? [] : [install('dependencies', '-r', place.projectRequirements)];
    }
    case 'none':
      return [];
  }
}
