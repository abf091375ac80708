import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Pack } from 'tar';
import { Failure } from '../failure.ts';
import type { ProjectFile } from './project-files.ts';

export type Archive = {
  readonly path: string;
  readonly bytes: number;
  /** The SHA-256 of the archive in hexadecimal. */
  readonly contentHash: string;
};

const epoch = new Date(0);
const progressBytes = 1_048_576;

/**
 * Writes a project as tar.gz to `target`. Equal content gives equal bytes, because order, times, owners and modes are
 * normalized and hard links become files. Throws a `Failure` if a file changes its size while it is read. `onProgress` is
 * called once per mebibyte with the size of the archive.
 */
export async function writeArchive(
  root: string,
  files: readonly ProjectFile[],
  target: string,
  signal: AbortSignal,
  onProgress: (bytes: number) => void = () => {},
): Promise<Archive> {
  const statCache = new Map(files.map((file) => [join(root, file.path), normalizedStats(file)]));
  const pack = new Pack({
    cwd: root,
    statCache,
    portable: true,
    mtime: epoch,
    noDirRecurse: true,
    gzip: { level: 6 },
  });
  for (const { path } of files) pack.add(path);
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      if (Math.floor((bytes + chunk.length) / progressBytes) > Math.floor(bytes / progressBytes)) onProgress(bytes);
      bytes += chunk.length;
      yield chunk;
    }
  };
  try {
    await pipeline(pack.end(), counted, createWriteStream(target, { mode: 0o600 }), { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw packingFailure(root, error);
  }
  return { path: target, bytes, contentHash: hash.digest('hex') };
}

function normalizedStats({ status, kind }: ProjectFile): ProjectFile['status'] {
  const isPlain = kind === 'file' && (status.mode & 0o100) === 0;
  return Object.assign(Object.create(Object.getPrototypeOf(status)), status, {
    mode: (status.mode & 0o170000) | (isPlain ? 0o644 : 0o755),
    nlink: 1,
  });
}

function packingFailure(root: string, error: unknown): Failure {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const name = path?.startsWith(root) === true ? path.slice(root.length + 1) : path;
  if (code === 'EOF') {
    return new Failure(
      'project-changed',
      `${name} changed while it was being packed.`,
      'Try again when no program is writing to it.',
    );
  }
  return new Failure(
    'project-unpackable',
    name === undefined ? `Cannot pack the project: ${message}.` : `Cannot pack ${name} (${code}).`,
  );
}
