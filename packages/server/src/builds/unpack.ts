import { link, mkdir, open, rename, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isEnvFile, unpackedArchiveLimits } from '@bothost/contract';
import type { DirectoryTreeRemover } from '@bothost/runtime';
import type { ReadEntry } from 'tar';
import { ArchiveError, formatEntryName } from './archive-error.ts';
import { type ArchiveEntryTree, type ArchiveLimits, createArchiveEntryTree } from './entry-tree.ts';
import { enforceUnpackedSizeLimits, readTarEntries, type SizeLimits } from './tar-entries.ts';

export type UnpackLimits = ArchiveLimits & SizeLimits;

export type UnpackOptions = {
  readonly output: (line: string) => void;
  readonly signal: AbortSignal;
  readonly removeTree: DirectoryTreeRemover;
  /** Throws if the disk has too little free space for this many bytes. */
  readonly requireSpace: (bytes: number) => void;
  readonly limits?: UnpackLimits;
};

/** Number of bytes that may be written between two checks of the free disk space. */
const spaceCheckBytes = 16 * 1_048_576;

export type UnpackedSize = { readonly files: number; readonly bytes: number };

/**
 * Unpacks a tar.gz file into a new directory, atomically: a failure leaves no files. Creates only files, directories
 * and links inside the directory, and keeps no permissions other than executable. Skips `.env` files and reports them
 * to `output`.
 *
 * @throws ArchiveError for an invalid archive, and the signal's reason
 */
export async function unpackArchive(
  archive: { readonly path: string; readonly bytes: number },
  target: string,
  { output, signal, removeTree, requireSpace, limits = unpackedArchiveLimits }: UnpackOptions,
): Promise<UnpackedSize> {
  const partial = `${target}.partial`;
  await removeTree(partial);
  await removeTree(target);
  try {
    await mkdir(partial, { mode: 0o700 });
    const tree = createArchiveEntryTree(limits);
    const unpacked = await unpackInto(partial, archive, tree, { output, signal, limits, requireSpace });
    // Links are created after all files, so that no file can be written through a link.
    for (const { path, target: to } of tree.links()) {
      await mkdir(join(partial, dirname(path)), { recursive: true });
      await symlink(to, join(partial, path));
    }
    if (unpacked.files === 0) throw new ArchiveError('archive-empty');
    await rename(partial, target);
    return unpacked;
  } finally {
    await removeTree(partial);
  }
}

async function unpackInto(
  root: string,
  archive: { readonly path: string; readonly bytes: number },
  tree: ArchiveEntryTree,
  how: Pick<UnpackOptions, 'output' | 'signal' | 'requireSpace'> & { readonly limits: UnpackLimits },
): Promise<UnpackedSize> {
  let files = 0;
  let bytes = 0;
  let uncheckedBytes = 0;
  const sizes = new Map<string, number>();
  const folders = new Set<string>();
  const place = async (path: string) => {
    const at = join(root, path);
    const folder = dirname(at);
    if (!folders.has(folder)) await mkdir(folder, { recursive: true });
    folders.add(folder);
    return at;
  };

  /** Counts a hard link like a file, because a copy of the tree contains the content twice. */
  function count(path: string, size: number) {
    files += 1;
    bytes += size;
    sizes.set(path, size);
    enforceUnpackedSizeLimits(bytes, archive.bytes, how.limits);
  }

  async function take(entry: ReadEntry): Promise<void> {
    const { path, type } = entry;
    switch (type) {
      case 'Directory':
      case 'GNUDumpDir': {
        const folder = tree.add(path, { kind: 'directory' });
        if (folder !== null) await mkdir(await place(folder), { recursive: true });
        return drop(entry);
      }
      case 'SymbolicLink':
        tree.add(path, { kind: 'link', target: entry.linkpath ?? '' });
        return drop(entry);
      case 'Link': {
        const source = tree.linkedFile(path, entry.linkpath ?? '');
        const file = tree.add(path, { kind: 'file' });
        if (file === null || isEnvFile(file) || isEnvFile(source)) return drop(entry);
        count(file, sizes.get(source) ?? 0);
        await link(join(root, source), await place(file));
        return drop(entry);
      }
      case 'File':
      case 'OldFile':
      case 'ContiguousFile': {
        const file = tree.add(path, { kind: 'file' });
        if (file === null) throw new ArchiveError('archive-duplicate-entry', path);
        if (isEnvFile(file)) {
          how.output(`${formatEntryName(file)} is left out: variables and secrets do not belong in a build.`);
          return drop(entry);
        }
        const mode = entry.mode ?? 0;
        if ((mode & 0o6000) !== 0) how.output(`${formatEntryName(file)} loses its setuid and setgid bits.`);
        count(file, entry.size);
        uncheckedBytes += entry.size;
        if (uncheckedBytes >= spaceCheckBytes) {
          how.requireSpace(uncheckedBytes);
          uncheckedBytes = 0;
        }
        return writeEntry(entry, await place(file), (mode & 0o111) === 0 ? 0o644 : 0o755);
      }
      default:
        throw new ArchiveError('archive-special-file', path);
    }
  }

  await readTarEntries(archive, how.limits, take, how.signal);
  return { files, bytes };
}

async function writeEntry(entry: ReadEntry, path: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    for await (const chunk of entry) await file.write(chunk as Buffer);
  } finally {
    await file.close();
  }
}

/** Skips the body of an entry, so that the parser continues with the next entry. */
function drop(entry: ReadEntry): void {
  entry.resume();
}
