import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { BuildCommand } from './builder.ts';
import { summarizeInstallerOutputLine } from './install-summary.ts';
import { readManifestOrLockFile } from './project-file.ts';
import type { PythonInterpreter } from './python-interpreter.ts';
import type { PythonProject } from './python-project.ts';

/** Version of the procedure. Increment it with each change of the procedure, so that older environments are not reused. */
const formatVersion = 1;

/** `uv` is the path of uv. */
export type PythonEnvironmentTools = { readonly python: PythonInterpreter; readonly uv: string };

/**
 * Returns a hash of everything that determines the content of a Python environment: interpreter, dependency files,
 * requirements of `bothost_shim` (the service's package that runs Python bots) and, if the project itself is installed, the
 * project's files.
 */
export function computePythonEnvironmentHash(
  directory: string,
  id: string,
  project: PythonProject,
  tools: PythonEnvironmentTools,
  shimRequirements: readonly string[],
): string {
  const hash = createHash('sha256');
  const { path, version } = tools.python;
  hash.update(JSON.stringify([formatVersion, path, version, process.arch, project.dependencies, shimRequirements]));
  for (const file of project.files) hash.update(`\0${file}\0`).update(readManifestOrLockFile(directory, file));
  if (project.isLocal) hash.update(`\0${id}`);
  return hash.digest('hex').slice(0, 32);
}

export type EnvironmentPaths = {
  /** The final path of the environment, because environments cannot be moved. */
  readonly environment: string;
  readonly project: string;
  /** Path of the constraints file, which pins the installed versions. Only commands of the build write and read it. */
  readonly constraints: string;
  /** Path of the requirements of `bothost_shim`, the service's package that runs Python bots. The service writes this file. */
  readonly shimRequirements: string;
};

const freeze = `import importlib.metadata, sys
found = {d.metadata['Name']: d.version for d in importlib.metadata.distributions() if d.metadata['Name']}
open(sys.argv[1], 'w').write(''.join(f'{name}=={version}\\n' for name, version in sorted(found.items())))`;

/**
 * Returns the commands that create a Python environment. Python's options `-I` and `-P` keep files of the project from
 * shadowing modules of Python. The last command installs the requirements of `bothost_shim`, the service's package that runs
 * Python bots, and cannot change installed versions.
 */
export function listEnvironmentSetupCommands(
  project: PythonProject,
  tools: PythonEnvironmentTools,
  paths: EnvironmentPaths,
): readonly BuildCommand[] {
  const python = join(paths.environment, 'bin', 'python');
  const { uv } = tools;
  const command = (title: string, ...args: readonly string[]): BuildCommand => ({
    title,
    command: args,
    directory: paths.project,
    variables: { UV_PROJECT_ENVIRONMENT: paths.environment, VIRTUAL_ENV: paths.environment },
    summarize: summarizeInstallerOutputLine,
  });
  const install = (title: string, ...args: readonly string[]): BuildCommand =>
    command(`uv pip install ${title}`, uv, 'pip', 'install', '--python', python, ...args);
  return [
    command('uv venv', uv, 'venv', '--no-project', '--python', tools.python.path, paths.environment),
    ...projectCommands(project, tools, command, install),
    command('list installed packages', python, '-P', '-c', freeze, paths.constraints),
    install('requirements of the host shim', '--quiet', '-c', paths.constraints, '-r', paths.shimRequirements),
  ];
}

const staleLockMessage = 'uv.lock does not match pyproject.toml. Run "uv lock" in the project, and deploy it again.';

type MakeCommand = (title: string, ...args: readonly string[]) => BuildCommand;

function projectCommands(
  project: PythonProject,
  { python, uv }: PythonEnvironmentTools,
  command: MakeCommand,
  install: MakeCommand,
): readonly BuildCommand[] {
  const { dependencies } = project;
  switch (dependencies.kind) {
    case 'uv-lock': {
      // Set the interpreter explicitly, because a .python-version file may name another one.
      const interpreter = ['--python', python.path];
      // Use the package indexes and settings of the lock file, because uv considers it stale if those of the operator differ. uv
      // needs no network to compare the files, except to build local packages and dynamic metadata. Without network, a stale file is
      // reported quickly.
      const network = project.isLocal ? [] : ['--offline'];
      const check = command(
        'uv lock --locked',
        uv,
        'lock',
        '--locked',
        ...network,
        ...dependencies.lockArguments,
        ...interpreter,
      );
      const args = ['--frozen', '--no-dev', '--no-install-project', '--no-editable', ...interpreter];
      return [
        { ...check, summarize: () => null, failure: staleLockMessage },
        command('uv sync --frozen', uv, 'sync', ...args),
      ];
    }
    case 'requirements':
      return [install('-r requirements.txt', '-r', 'requirements.txt')];
    case 'pyproject':
      return [install('-r pyproject.toml', '-r', 'pyproject.toml')];
    case 'none':
      return [];
  }
}
