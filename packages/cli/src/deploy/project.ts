import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { checkDeployFile, type DeployFile, deployFileNames, findUnsupported } from '@bothost/contract';
import { parse, TomlError } from 'smol-toml';
import { Failure } from '../failure.ts';
import type { Io } from '../io/io.ts';

/** The folder to deploy and its deploy file. */
export type Project = {
  readonly folder: string;
  /** Null if there is none; then all settings come from the command line. `name` is its path for messages. */
  readonly deployFile: { readonly name: string; readonly content: DeployFile } | null;
};

/**
 * Finds the deploy file: the one given, or else in the working directory, or else in its folder `server`, where `botcli init`
 * puts it. `buildDir` overrides the folder to pack.
 */
export async function findProject(
  io: Pick<Io, 'directory'>,
  named: { readonly configFile: string | undefined; readonly buildDir: string | undefined },
): Promise<Project> {
  const path =
    named.configFile === undefined ? await findDeployFile(io.directory) : resolve(io.directory, named.configFile);
  const content = path === null ? null : await readDeployFile(path, displayPath(io, path));
  const base = path === null ? io.directory : dirname(path);
  const folder =
    named.buildDir === undefined
      ? resolve(base, content?.build.context_dir ?? '.')
      : resolve(io.directory, named.buildDir);
  const status = await stat(folder).catch(() => null);
  if (status?.isDirectory() !== true)
    throw new Failure('project-missing', `The folder ${displayPath(io, folder)} does not exist.`);
  return { folder, deployFile: path === null || content === null ? null : { name: displayPath(io, path), content } };
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
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new Failure('deploy-file-unreadable', `Cannot read ${name}${code}.`);
  });
  const { file, issues } = checkDeployFile(parseToml(text, name));
  if (file === null) throw invalidDeployFile(name, 'is invalid', issues);
  const beyond = findUnsupported(file);
  if (beyond.length > 0) throw invalidDeployFile(name, 'asks for what this service cannot do', beyond);
  return file;
}

function parseToml(text: string, name: string): unknown {
  try {
    return parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [sentence = ''] = error.message.split('\n');
    throw invalidDeployFile(name, 'is not valid TOML', [{ path: `line ${error.line}`, message: sentence }]);
  }
}

function invalidDeployFile(name: string, what: string, issues: Failure['issues']): Failure {
  return new Failure('deploy-file-invalid', `${name} ${what}.`, null, issues);
}

/** The shorter form of a path: relative to the current directory, or absolute outside it. */
export function displayPath({ directory }: Pick<Io, 'directory'>, path: string): string {
  const way = relative(directory, path);
  if (way === '') return basename(path);
  return way.startsWith('..') ? path : way;
}
