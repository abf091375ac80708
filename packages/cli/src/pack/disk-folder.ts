import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Folder, FolderEntry, ResolvedSymbolicLink } from '@bothost/packing';
import { Failure, getSystemErrorCode } from '../failure.ts';

const chunkBytes = 65_536;

/**
 * Returns the directory `path` of the project in `root` as a `Folder`. Both paths are absolute, and `root` contains no symbolic
 * links.
 */
export function openDiskFolder(root: string, path: string): Folder {
  return {
    list: async () => {
      const options = { withFileTypes: true, encoding: 'buffer' } as const;
      const entries = await readdir(path, options).catch((error: unknown) => {
        throw unreadableFailure(root, path, error);
      });
      return entries.map((entry) => readEntry(root, path, entry));
    },
  };
}

function readEntry(root: string, folder: string, entry: Dirent<Buffer>): FolderEntry {
  if (!isUtf8(entry.name)) {
    const problem = 'has a name that is not UTF-8; rename it';
    return { name: escapeBytes(entry.name), kind: 'unsupported', problem };
  }
  const name = entry.name.toString();
  const path = join(folder, name);
  const read = () => readChunks(root, path);
  if (entry.isDirectory()) return { name, kind: 'folder', ...openDiskFolder(root, path) };
  if (entry.isSymbolicLink()) return { name, kind: 'link', read, resolve: () => resolveLink(root, path) };
  if (!entry.isFile()) return { name, kind: 'unsupported', problem: 'is not a file, directory or link' };
  const size = async () => {
    const status = await lstat(path).catch((error: unknown) => {
      throw unreadableFailure(root, path, error);
    });
    return status.size;
  };
  return { name, kind: 'file', read, size };
}

/** Reads a file in chunks. A stream of `node:fs` would take twice the time for small files. */
async function* readChunks(root: string, path: string): AsyncGenerator<Uint8Array> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, chunkBytes);
      if (bytesRead === 0) return;
      // A copy, because the buffer is used again.
      yield new Uint8Array(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    throw unreadableFailure(root, path, error);
  } finally {
    await file?.close();
  }
}

/** Replaces each byte that is not printable ASCII with `\\xNN`. */
function escapeBytes(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[^ -~]|\\/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

async function resolveLink(root: string, path: string): Promise<ResolvedSymbolicLink> {
  const target = await readlink(path);
  const absolute = join(dirname(path), target);
  const projectPath = relative(root, absolute).split(sep).join('/');
  const real = await realpath(path).catch(() => null);
  const isOutside = !isWithin(root, absolute) || (real !== null && !isWithin(root, real));
  const problem = isAbsolute(target)
    ? `is a link to an absolute path, ${target}`
    : isOutside
      ? `is a link out of the project, to ${target}`
      : null;
  return { target, projectPath, problem };
}

function isWithin(root: string, path: string): boolean {
  const relativePath = relative(root, path);
  return relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath);
}

function unreadableFailure(root: string, path: string, error: unknown): Failure {
  const errorCode = getSystemErrorCode(error) ?? 'unknown error';
  const message = `Cannot read ${relative(root, path) || root} (${errorCode}).`;
  return new Failure('file-unreadable', message, null, { cause: error });
}
