import { dirname, join } from 'node:path';
import { environmentFiles, readMarker } from '../projects/environment-files.ts';
import type { Project } from '../projects/prepared-project.ts';
import type { Shim } from '../projects/shim.ts';

/** What runs a bot: its command, variables that only this kind needs, and the folder of its interpreter. */
export type BotProgram = {
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  readonly folder: string;
};

export type BotProgramOptions = {
  readonly projectsDirectory: string;
  readonly environmentsDirectory: string;
  readonly interpreter: () => Promise<string>;
  readonly shim: () => Promise<Shim>;
};

/** `node <main>`; for Python the shim in the project's environment, which runs the bot from the directory it is in. */
export async function botProgram(options: BotProgramOptions, project: Project): Promise<BotProgram> {
  if (project.kind === 'python') {
    const files = environmentFiles(options.environmentsDirectory, project);
    const { bin } = files;
    const shim = await options.shim();
    // After an upgrade of the service it is a new one.
    await shim.compile(readMarker(files));
    return {
      command: [join(bin, 'python'), '-m', 'bothost_shim'],
      variables: {
        PYTHONPATH: shim.path,
        // What can be compiled was, and the project is not the bot's to write to.
        PYTHONDONTWRITEBYTECODE: '1',
        VIRTUAL_ENV: dirname(bin),
      },
      folder: bin,
    };
  }
  const interpreter = await options.interpreter();
  return {
    command: [interpreter, join(options.projectsDirectory, project.project, project.main)],
    variables: {},
    folder: dirname(interpreter),
  };
}
