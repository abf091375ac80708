import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { checkDeployFile, type DeployFile, deployFileNames, findUnsupported } from '@bothost/contract';
import { parse, TomlError } from 'smol-toml';
import { Failure } from '../failure.ts';
import type { Io } from '../io/io.ts';

/** What is deployed: a folder, and what its deploy file says. */
export type Project = {
  readonly folder: string;
  /** Null where there is none: then the command line says everything. `name` is as people would write it. */
  readonly deployFile: { readonly name: string; readonly content: DeployFile } | null;
};

/**
 * Finds the project: the deploy file that is named, else the one of the working directory, else the one of its folder
 * `server`, where `botcli init` puts it. `buildDir` is another folder to pack.
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
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true)
    throw new Failure('project-missing', `There is no folder ${displayPath(io, folder)}.`);
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

/** A path as it is shortest to say from here. */
export function displayPath({ directory }: Pick<Io, 'directory'>, path: string): string {
  const way = relative(directory, path);
  if (way === '') return basename(path);
  return way.startsWith('..') ? path : way;
}
