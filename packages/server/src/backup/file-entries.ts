import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutputOffsetRange } from '@bothost/runtime';
import { hasErrorCode } from '../store/error-code.ts';
import type { TarEntry } from './tar.ts';

const chunkBytes = 256 * 1024;

/** The tar entry of a file, or none if it was removed. Padded with zeros if the file shrinks while it is read. */
export async function* iterateFileEntries(dataDirectory: string, path: string): AsyncGenerator<TarEntry> {
  yield* withFile(dataDirectory, path, async function* (file) {
    const { size } = await file.stat();
    yield { path: `files/${path}`, size, content: read(file, 0, size) };
  });
}

/** Tar entries for files whose names `isWanted` accepts, without subdirectories. None if the directory is missing. */
export async function* iterateDirectoryEntries(
  dataDirectory: string,
  path: string,
  isWanted: (name: string) => boolean = () => true,
): AsyncGenerator<TarEntry> {
  const found = await readdir(join(dataDirectory, path), { withFileTypes: true }).catch(orMissing);
  for (const entry of found ?? []) {
    if (entry.isFile() && isWanted(entry.name)) yield* iterateFileEntries(dataDirectory, `${path}/${entry.name}`);
  }
}

export async function* iterateSparseEntries(
  dataDirectory: string,
  path: string,
  ranges: readonly OutputOffsetRange[],
): AsyncGenerator<TarEntry> {
  yield* withFile(dataDirectory, path, async function* (file) {
    for (const { from, to } of ranges) {
      yield { path: `files/${path}@${from}`, size: to - from, content: read(file, from, to) };
    }
  });
}

async function* withFile(
  dataDirectory: string,
  path: string,
  use: (file: FileHandle) => AsyncGenerator<TarEntry>,
): AsyncGenerator<TarEntry> {
  const file = await open(join(dataDirectory, path), 'r').catch(orMissing);
  if (file === null) return;
  try {
    yield* use(file);
  } finally {
    await file.close();
  }
}

/**
 * Reads exactly the bytes of a range. Pads missing bytes with zeros, because the tar header already states the size.
 */
async function* read(file: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to; ) {
    const chunk = Buffer.alloc(Math.min(chunkBytes, to - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    at += bytesRead === 0 ? chunk.length : bytesRead;
    yield bytesRead === 0 ? chunk : chunk.subarray(0, bytesRead);
  }
}

function orMissing(error: unknown): null {
  if (hasErrorCode(error, 'ENOENT')) return null;
  throw error;
}
