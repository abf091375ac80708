import { unpackedArchiveLimits } from '@bothost/contract';
import { createTarDecoder, type TarHeader } from 'modern-tar';
import type { Folder, FolderEntry, ResolvedSymbolicLink } from './folder.ts';
import { PackingError } from './packing-error.ts';
import { iterateStream } from './read-stream.ts';

type Leaf =
  | { readonly kind: 'file'; readonly content: Blob }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'unsupported' };
type Directory = Map<string, Directory | Leaf>;

/**
 * Reads a tar.gz archive as a folder. If the archive contains a single directory, that directory is the folder. Throws a
 * `PackingError` if the archive is invalid or larger than the service accepts.
 */
export async function readArchiveAsFolder(archive: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Folder> {
  const root: Directory = new Map();
  let bytes = 0;
  let entries = 0;
  try {
    const content = archive
      .pipeThrough(new DecompressionStream('gzip'))
      .pipeThrough(createTarDecoder({ strict: true }));
    for await (const { header, body } of iterateStream(content)) {
      bytes += header.size;
      entries += 1;
      if (bytes > unpackedArchiveLimits.bytes || entries > unpackedArchiveLimits.entries) {
        throw new PackingError('project-too-large', 'The archive is larger than the service accepts.');
      }
      addEntry(root, header, await new Response(body).blob());
    }
  } catch (error) {
    if (error instanceof PackingError) throw error;
    throw invalidArchive('It is damaged, or not a tar.gz archive.');
  }
  return directoryFolder(withoutWrapper(root));
}

function addEntry(root: Directory, { name, type = 'file', linkname = '' }: TarHeader, content: Blob): void {
  const path = splitPath(name);
  const fileName = type === 'directory' ? undefined : path.pop();
  const directory = makeDirectories(root, path);
  if (fileName === undefined) return;
  if (type === 'file') directory.set(fileName, { kind: 'file', content });
  else if (type === 'symlink') directory.set(fileName, { kind: 'link', target: linkname });
  else if (type === 'link') {
    const target = findNode(root, splitPath(linkname));
    if (target === undefined || target instanceof Map)
      throw invalidArchive(`${name} is a hard link to ${linkname}, which the archive does not contain before it.`);
    directory.set(fileName, target);
  } else directory.set(fileName, { kind: 'unsupported' });
}

/** Splits a path in the archive at its slashes. Throws a `PackingError` for a path that leads out of the archive. */
function splitPath(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (path.startsWith('/') || names.includes('..')) throw invalidArchive(`The path ${path} leads out of the archive.`);
  return names;
}

function makeDirectories(root: Directory, path: readonly string[]): Directory {
  let directory = root;
  for (const name of path) {
    const known = directory.get(name);
    const next: Directory = known instanceof Map ? known : new Map();
    directory.set(name, next);
    directory = next;
  }
  return directory;
}

function findNode(root: Directory, path: readonly string[]): Directory | Leaf | undefined {
  return path.reduce<Directory | Leaf | undefined>(
    (node, name) => (node instanceof Map ? node.get(name) : undefined),
    root,
  );
}

/** Returns the only directory in `root` if there is nothing else, because many archives contain the project in one directory. */
function withoutWrapper(root: Directory): Directory {
  const [only] = root.values();
  return root.size === 1 && only instanceof Map ? only : root;
}

function directoryFolder(root: Directory): Folder {
  const folder = (directory: Directory, path: readonly string[]): Folder => ({
    list: async () => [...directory].map(([name, node]) => entry(name, node, path)),
  });
  const entry = (name: string, node: Directory | Leaf, path: readonly string[]): FolderEntry => {
    if (node instanceof Map) return { name, kind: 'folder', ...folder(node, [...path, name]) };
    switch (node.kind) {
      case 'file':
        return {
          name,
          kind: 'file',
          size: async () => node.content.size,
          read: () => iterateStream(node.content.stream()),
        };
      case 'link': {
        const resolved = resolveLink(path, node.target);
        const read = () => {
          const target = findNode(root, resolved.projectPath.split('/'));
          const content = target instanceof Map || target?.kind !== 'file' ? new Blob() : target.content;
          return iterateStream(content.stream());
        };
        return { name, kind: 'link', resolve: async () => resolved, read };
      }
      case 'unsupported':
        return { name, kind: 'unsupported', problem: 'is not a file, directory or link' };
    }
  };
  return folder(root, []);
}

function resolveLink(path: readonly string[], target: string): ResolvedSymbolicLink {
  const names = [...path];
  let isOutside = false;
  for (const name of target.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) isOutside = true;
  }
  const problem = target.startsWith('/')
    ? `is a link to an absolute path, ${target}`
    : isOutside
      ? `is a link out of the project, to ${target}`
      : null;
  return { target, projectPath: names.join('/'), problem };
}

function invalidArchive(problem: string): PackingError {
  return new PackingError(
    'project-unpackable',
    `The archive cannot be read. ${problem}`,
    'Create the archive in the directory of the project: tar -czf ../project.tar.gz .',
  );
}
