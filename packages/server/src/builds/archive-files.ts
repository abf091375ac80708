import { createHash } from 'node:crypto';
import { deploymentFileLimits, isEnvFile, unpackedArchiveLimits } from '@bothost/contract';
import type { ReadEntry } from 'tar';
import { ArchiveError } from './archive-error.ts';
import { createArchiveEntryTree } from './entry-tree.ts';
import { readTarEntries } from './tar-entries.ts';

/** A file of a project. `sha256` is in hexadecimal. */
export type ArchiveFile = { readonly path: string; readonly sizeBytes: number; readonly sha256: string };

type Archive = { readonly path: string; readonly bytes: number };

/**
 * Lists the files of an archive that a build unpacks, sorted by path. The content of a symbolic link is its target, as in Git.
 *
 * @throws ArchiveError, also if the project is larger than `deploymentFileLimits`, and the signal's reason
 */
export async function listArchiveFiles(archive: Archive, signal: AbortSignal): Promise<readonly ArchiveFile[]> {
  const files = new Map<string, ArchiveFile>();
  const add = (file: ArchiveFile) => {
    files.set(file.path, file);
    if (files.size > deploymentFileLimits.files) throw new ArchiveError('archive-too-many-files');
  };
  await readFiles(archive, signal, async (path, content) => {
    if ('linkTo' in content) {
      const linked = files.get(content.linkTo);
      if (linked !== undefined) add({ ...linked, path });
      return;
    }
    const sha256 = createHash('sha256');
    let sizeBytes = 0;
    for await (const chunk of content.chunks) {
      sha256.update(chunk);
      sizeBytes += chunk.length;
    }
    add({ path, sizeBytes, sha256: sha256.digest('hex') });
  });
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Returns the content of a file of an archive, or `too-large` if it exceeds `deploymentFileLimits`. Null if the archive has
 * no file with this path.
 *
 * @throws ArchiveError, and the signal's reason
 */
export async function readArchiveFile(
  archive: Archive,
  path: string,
  signal: AbortSignal,
): Promise<Buffer | 'too-large' | null> {
  const chunks: Buffer[] = [];
  let bytes = -1;
  let linkTo: string | null = null;
  await readFiles(archive, signal, async (file, content) => {
    if ('linkTo' in content) {
      if (file === path) linkTo = content.linkTo;
      return;
    }
    if (file !== path) {
      for await (const _ of content.chunks);
      return;
    }
    bytes = 0;
    for await (const chunk of content.chunks) {
      bytes += chunk.length;
      if (bytes <= deploymentFileLimits.textBytes) chunks.push(chunk);
    }
  });
  if (linkTo !== null) return readArchiveFile(archive, linkTo, signal);
  if (bytes === -1) return null;
  return bytes > deploymentFileLimits.textBytes ? 'too-large' : Buffer.concat(chunks);
}

/** The content of a file, or the path of the file with the content of a hard link, which is not a link. */
type Content = { readonly chunks: AsyncIterable<Buffer> | Iterable<Buffer> } | { readonly linkTo: string };

async function readFiles(
  archive: Archive,
  signal: AbortSignal,
  take: (path: string, content: Content) => Promise<void>,
): Promise<void> {
  if (archive.bytes > deploymentFileLimits.archiveBytes) throw new ArchiveError('archive-too-large-unpacked');
  const tree = createArchiveEntryTree(unpackedArchiveLimits);
  const limits = { ...unpackedArchiveLimits, bytes: deploymentFileLimits.unpackedBytes };
  /** The file with the content of each hard link. */
  const origins = new Map<string, string>();
  const readEntry = async (entry: ReadEntry) => {
    const { type, linkpath = '' } = entry;
    if (type === 'SymbolicLink') {
      const path = tree.add(entry.path, { kind: 'link', target: linkpath });
      entry.resume();
      if (path !== null) await take(path, { chunks: [Buffer.from(linkpath)] });
      return;
    }
    const isFile = type === 'File' || type === 'OldFile' || type === 'ContiguousFile';
    const linked = type === 'Link' ? tree.linkedFile(entry.path, linkpath) : null;
    const linkTo = linked === null ? null : (origins.get(linked) ?? linked);
    const path = tree.add(entry.path, { kind: isFile || linkTo !== null ? 'file' : 'directory' });
    if (path !== null) linkTo === null ? origins.delete(path) : origins.set(path, linkTo);
    // A build leaves these files out, and they contain secrets.
    const isLeftOut = path === null || isEnvFile(path) || (linkTo !== null && isEnvFile(linkTo));
    if (isFile && !isLeftOut) return take(path, { chunks: entry as AsyncIterable<Buffer> });
    entry.resume();
    if (linkTo !== null && !isLeftOut) await take(path, { linkTo });
  };
  await readTarEntries(archive, limits, readEntry, signal);
}
