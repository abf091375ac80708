import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { checkDeployFile, type DeployFile, deployFileNames, findUnsupported } from '@bothost/contract';
import { parse, TomlError } from 'smol-toml';
import { Failure } from '../failure.ts';
import type { Io } from '../io/io.ts';

export type Project = {
  readonly directory: string;
  /** Null if there is no deploy file. `name` is its path for messages. */
  readonly deployFile: { readonly name: string; readonly content: DeployFile } | null;
};

/**
 * Looks for the deploy file at `configFile`, or else in the working directory and in its directory `server`, where `botcli
 * init` writes it. `buildDir` overrides the directory to pack.
 */
export async function findProject(
  io: Pick<Io, 'directory'>,
  options: { readonly configFile: string | undefined; readonly buildDir: string | undefined },
): Promise<Project> {
  const path =
    options.configFile === undefined ? await findDeployFile(io.directory) : resolve(io.directory, options.configFile);
  const content = path === null ? null : await readDeployFile(path, displayPath(io, path));
  const base = path === null ? io.directory : dirname(path);
  const projectDirectory =
    options.buildDir === undefined
      ? resolve(base, content?.build.context_dir ?? '.')
      : resolve(io.directory, options.buildDir);
  const status = await stat(projectDirectory).catch(() => null);
  if (status?.isDirectory() !== true)
    throw new Failure('project-missing', `The directory ${displayPath(io, projectDirectory)} does not exist.`);
  return {
    directory: projectDirectory,
    deployFile: path === null || content === null ? null : { name: displayPath(io, path), content },
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

async function readDeployFile(path: string, name: string): Promise<DeployFile> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const errorCode = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new Failure('deploy-file-unreadable', `Cannot read ${name} (${errorCode}).`);
  });
  const { file, issues } = checkDeployFile(parseToml(text, name));
  if (file === null) throw new Failure('deploy-file-invalid', `${name} is invalid.`, null, issues);
  const unsupported = findUnsupported(file);
  if (unsupported.length > 0) {
    throw new Failure(
      'deploy-file-invalid',
      `${name} has settings that this service does not support.`,
      null,
      unsupported,
    );
  }
  return file;
}

function parseToml(text: string, name: string): unknown {
  try {
    return parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [sentence = ''] = error.message.split('\n');
    throw new Failure('deploy-file-invalid', `${name} is not valid TOML.`, null, [
      { path: `line ${error.line}`, message: sentence },
    ]);
  }
}

/** Returns a path relative to the current directory, or an absolute path if it is outside. */
export function displayPath({ directory }: Pick<Io, 'directory'>, path: string): string {
  const relativePath = relative(directory, path);
  if (relativePath === '') return basename(path);
  return relativePath.startsWith('..') ? path : relativePath;
}
