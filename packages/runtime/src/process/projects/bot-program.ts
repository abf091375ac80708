import { dirname, join } from 'node:path';
import { getPythonEnvironmentFiles, readPythonEnvironmentInterpreter } from './environment-files.ts';
import type { Project } from './prepared-project.ts';
import type { PythonShim } from './python-shim.ts';

/** How to run a bot. `fork` is null if it cannot be forked. `folder` is the directory of the interpreter. */
export type BotProgram = {
  readonly fork: ForkServerProgram | null;
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly folder: string;
};

export type ForkServerProgram = {
  /** The interpreter that created the bot's environment. It runs the supervisor outside of that environment. */
  readonly interpreter: string;
  readonly shimPath: string;
  readonly command: readonly string[];
};

export type BotProgramOptions = {
  readonly projectsDirectory: string;
  readonly environmentsDirectory: string;
  readonly interpreter: () => Promise<string>;
  readonly shim: () => Promise<PythonShim>;
};

/** The command that runs a bot: `node <main>`, or the host shim (`bothost_shim`) in the project's Python environment. */
export async function resolveBotProgram(options: BotProgramOptions, project: Project): Promise<BotProgram> {
  if (project.kind === 'python') {
    const files = getPythonEnvironmentFiles(options.environmentsDirectory, project);
    const { bin } = files;
    const shim = await options.shim();
    // Compile the Python host shim here as well as in the build: after an upgrade of the service, the shim may be newer than
    // the environment.
    const python = readPythonEnvironmentInterpreter(files);
    await shim.compile(python);
    return {
      fork: {
        interpreter: python.path,
        shimPath: shim.path,
        command: [join(bin, 'python'), '-m', 'bothost_shim.fork_server'],
      },
      command: [join(bin, 'python'), '-m', 'bothost_shim'],
      variables: {
        PYTHONPATH: shim.path,
        // Python must not write compiled files: all modules are compiled already, and the bot cannot write to its project.
        PYTHONDONTWRITEBYTECODE: '1',
        VIRTUAL_ENV: dirname(bin),
      },
      folder: bin,
    };
  }
  const interpreter = await options.interpreter();
  return {
    fork: null,
    command: [interpreter, join(options.projectsDirectory, project.project, project.main)],
    variables: {},
    folder: dirname(interpreter),
  };
}
