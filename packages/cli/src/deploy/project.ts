import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type DeployFile, type DeploySource, deployFileNames } from '@bothost/contract';
import { Failure, getSystemErrorCode } from '../failure.ts';
import type { CommandIo } from '../io/io.ts';
import { readDeployFile } from '../pack/deploy-file.ts';

export type Project = {
  readonly directory: string;
  /** The path of the file `.env` beside the deploy file, which may not exist. */
  readonly environmentFile: string;
  /** The deploy file, or null if no deploy file exists. `name` is its path for messages. */
  readonly deployFile: { readonly name: string; readonly content: DeployFile } | null;
};

/**
 * Looks for the deploy file at `configFile`, or else in the working directory and in its directory `server`, where `botcli
 * init` writes it. `buildDir` overrides the directory to pack.
 */
export async function findProject(
  io: Pick<CommandIo, 'directory'>,
  options: {
    readonly configFile: string | undefined;
    readonly buildDir: string | undefined;
    readonly findSource: (file: DeployFile) => DeploySource;
  },
): Promise<Project> {
  const path =
    options.configFile === undefined ? await findDeployFile(io.directory) : resolve(io.directory, options.configFile);
  const name = path === null ? '' : formatDisplayPath(io, path);
  const content = path === null ? null : readDeployFile(await readText(path, name), name, options.findSource);
  const base = path === null ? io.directory : dirname(path);
  const projectDirectory =
    options.buildDir === undefined
      ? resolve(base, content?.build.context_dir ?? '.')
      : resolve(io.directory, options.buildDir);
  const status = await stat(projectDirectory).catch(() => null);
  if (status?.isDirectory() !== true)
    throw new Failure('project-missing', `The directory ${formatDisplayPath(io, projectDirectory)} does not exist.`);
  return {
    directory: projectDirectory,
    environmentFile: join(base, '.env'),
    deployFile: content === null ? null : { name, content },
  };
}

async function findDeployFile(directory: string): Promise<string | null> {
  for (const place of [directory, join(directory, 'server')]) {
    for (const name of deployFileNames) {
      const path = join(place, name);
      if ((await stat(path).catch(() => null)) !== null) return path;
    }
  }
  return null;
}

async function readText(path: string, name: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    const errorCode = getSystemErrorCode(error) ?? 'unknown error';
    throw new Failure('deploy-file-unreadable', `Cannot read ${name} (${errorCode}).`, null, { cause: error });
  });
}

/** Returns a path relative to the current directory, or the absolute path if it is not inside the current directory. */
export function formatDisplayPath({ directory }: Pick<CommandIo, 'directory'>, path: string): string {
  const relativePath = relative(directory, path);
  if (relativePath === '') return basename(path);
  return relativePath.startsWith('..') ? path : relativePath;
}
