import { createHash } from 'node:crypto';
import { mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';
import { formatBytes } from '@bothost/contract';
import { checkArchiveSize, type PackableProject, packFiles, readProject, type Sha256 } from '@bothost/packing';
import type { CommandContext } from '../command-line/context.ts';
import { openDiskFolder } from './disk-folder.ts';
import { convertPackingError } from './packing-failure.ts';

export type { PackableProject };

/** Size of zlib's output buffer. Node's default of 16 KiB causes many small writes. */
const gzipChunkBytes = 131_072;

/** Reads the project in a directory. `excluded` are the patterns of `[build.exclude]` in the deploy file. */
export async function readProjectDirectory(
  { io, messages }: Pick<CommandContext, 'io' | 'messages'>,
  directory: string,
  excluded: readonly string[],
): Promise<PackableProject> {
  messages.status('Reading the project');
  try {
    const root = await realpath(directory);
    return await readProject(openDiskFolder(root, root), excluded, createSha256(), (bytes) => {
      io.signal.throwIfAborted();
      messages.status(`Reading the project, ${formatBytes(bytes)}`);
    });
  } catch (error) {
    throw convertPackingError(error);
  } finally {
    messages.status(null);
  }
}

export type ArchiveFile = { readonly path: string; readonly bytes: number; readonly contentHash: string };

/** Packs a project into a temporary archive and passes it to `use`. Removes the archive when `use` has finished or failed. */
export async function withArchiveFile<T>(
  context: Pick<CommandContext, 'io' | 'messages'>,
  project: PackableProject,
  use: (archive: ArchiveFile) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'botcli-'));
  try {
    const path = join(directory, 'project.tar.gz');
    const bytes = await pack(context, project, path).catch((error: unknown) => {
      throw convertPackingError(error);
    });
    return await use({ path, bytes, contentHash: project.contentHash });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Writes an archive of a project to a new file. Returns the size of the archive in bytes. */
async function pack(
  { io, messages }: Pick<CommandContext, 'io' | 'messages'>,
  { files, contentHash }: PackableProject,
  path: string,
): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  let bytes = 0;
  try {
    const tar = packFiles(files, contentHash, createSha256());
    // The pipeline destroys the archive with the error of `tar`, which ends the loop.
    const archive: AsyncIterable<Buffer> = pipeline(tar, createGzip({ chunkSize: gzipChunkBytes }), () => {});
    for await (const chunk of archive) {
      io.signal.throwIfAborted();
      bytes += chunk.length;
      checkArchiveSize(files, bytes);
      await file.writeFile(chunk);
      messages.status(`Packing, ${formatBytes(bytes)}`);
    }
    return bytes;
  } finally {
    await file.close();
    messages.status(null);
  }
}

export function createSha256(): Sha256 {
  const hash = createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), toHex: () => hash.digest('hex') };
}
