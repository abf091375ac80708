import { type DeployFile, deployFileNames } from '@bothost/contract';
import {
  checkArchiveSize,
  type Folder,
  iterateStream,
  type PackableProject,
  PackingError,
  packFiles,
  parseDeployFile,
  readProject,
  readTextFile,
  type Sha256,
} from '@bothost/packing';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { botcliCommands } from '../commands/botcli-commands.ts';
import type { ProjectSource } from './project-source.ts';

export type ChosenProject = PackableProject & {
  /** The name of the folder or archive that the person chose. */
  readonly name: string;
  /** The deploy file, or null if the project has none. `path` is relative to the project's folder. */
  readonly deployFile: { readonly path: string; readonly content: DeployFile } | null;
};

/** Reads a project as `botcli cloud deploy` does. Calls `onProgress` with the number of bytes that have been read. */
export async function readChosenProject(
  source: ProjectSource,
  onProgress: (bytes: number) => void,
  signal: AbortSignal,
): Promise<ChosenProject> {
  const root = await source.open();
  const found = await findDeployFile(root);
  const deployFile = found === null ? null : { path: found.path, content: found.content };
  const { context_dir, exclude } = found?.content.build ?? { context_dir: '.', exclude: { patterns: [] } };
  const folder = await findFolder(root, [...(found?.folder ?? []), ...context_dir.split('/')]);
  const project = await readProject(folder, exclude.patterns, createSha256(), (bytes) => {
    signal.throwIfAborted();
    onProgress(bytes);
  });
  return { ...project, name: source.name, deployFile };
}

export async function packProject({ files, contentHash }: PackableProject, signal: AbortSignal): Promise<Blob> {
  const tar = createStream(packFiles(files, contentHash, createSha256()));
  const archive = tar.pipeThrough(new CompressionStream('gzip'), { signal });
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of iterateStream(archive)) {
    bytes += chunk.length;
    checkArchiveSize(files, bytes);
    chunks.push(chunk);
  }
  return new Blob(chunks);
}

/** Returns the items of a generator as a stream, for browsers without `ReadableStream.from`. */
function createStream<T>(items: AsyncGenerator<T>): ReadableStream<T> {
  return new ReadableStream({
    pull: async (controller) => {
      const next = await items.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: async () => {
      await items.return(undefined);
    },
  });
}

/** Creates a SHA-256 in JavaScript, because `crypto.subtle` cannot hash in parts. */
function createSha256(): Sha256 {
  const hash = sha256.create();
  return { update: (bytes) => void hash.update(bytes), toHex: () => bytesToHex(hash.digest()) };
}

/**
 * Finds the deploy file in a folder or in its subfolder `server`, where `botcli init` writes it. Returns null if there is none.
 */
async function findDeployFile(root: Folder) {
  const entries = await root.list();
  const server = entries.find(({ name, kind }) => name === 'server' && kind === 'folder');
  const places = [
    { folder: [] as string[], entries },
    ...(server?.kind === 'folder' ? [{ folder: ['server'], entries: await server.list() }] : []),
  ];
  for (const place of places) {
    for (const name of deployFileNames) {
      const text = await readTextFile(place.entries, name);
      if (text === null) continue;
      const path = [...place.folder, name].join('/');
      const content = parseDeployFile(text, path, () => 'build');
      if (content.build_id === undefined) return { folder: place.folder, path, content };
      throw new PackingError(
        'deploy-file-invalid',
        `${path} names an existing build (build_id), so the files of the folder would not be used.`,
        `To deploy the folder, remove build_id from ${path}. To deploy the existing build, run: ${botcliCommands.deploy()}`,
      );
    }
  }
  return null;
}

/** Opens a subfolder. `path` may contain `.` and `..`. */
async function findFolder(root: Folder, path: readonly string[]): Promise<Folder> {
  const names: string[] = [];
  for (const name of path) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) throw missingContext(path);
  }
  let folder = root;
  for (const name of names) {
    const entry = (await folder.list()).find((one) => one.name === name);
    if (entry?.kind !== 'folder') throw missingContext(path);
    folder = entry;
  }
  return folder;
}

function missingContext(path: readonly string[]): PackingError {
  return new PackingError(
    'project-missing',
    `The folder does not contain the directory ${path.join('/')}, which the deploy file names as context_dir.`,
    `Choose a folder that contains ${path.join('/')}, or correct context_dir.`,
  );
}
