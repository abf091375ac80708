import { createTarPacker, type TarPackController } from 'modern-tar';
import { PackingError } from './packing-error.ts';
import type { ProjectFile } from './project-files.ts';
import { iterateStream } from './read-stream.ts';

type Block = Uint8Array<ArrayBuffer>;

/** An incremental SHA-256, which each platform supplies. `toHex` returns the hash of all bytes passed to `update`. */
export type Sha256 = {
  readonly update: (bytes: Block) => void;
  readonly toHex: () => string;
};

const blockBytes = 65_536;
const epoch = new Date(0);

/**
 * Returns the content hash of files: the SHA-256 of their tar archive in hexadecimal. The archive is reproducible, because
 * times, owners and modes are normalized. Calls `onProgress` with the number of bytes that have been hashed. Throws a
 * `PackingError` if the size of a file has changed since it was listed.
 */
export async function hashFiles(
  files: readonly ProjectFile[],
  sha256: Sha256,
  onProgress: (bytes: number) => void = () => {},
): Promise<string> {
  let bytes = 0;
  for await (const block of createTar(files)) {
    sha256.update(block);
    bytes += block.length;
    onProgress(bytes);
  }
  return sha256.toHex();
}

/**
 * Yields the tar archive of files in blocks. Throws a `PackingError` if the size of a file has changed since it was listed, or
 * after the last block if the files no longer have the given content hash. Each platform compresses the archive with its own
 * gzip.
 *
 * @example
 * const tar = packFiles(project.files, project.contentHash, createSha256());
 * await pipeline(tar, createGzip(), createWriteStream(path));
 */
export async function* packFiles(
  files: readonly ProjectFile[],
  contentHash: string,
  sha256: Sha256,
): AsyncGenerator<Block> {
  for await (const block of createTar(files)) {
    sha256.update(block);
    yield block;
  }
  if (sha256.toHex() !== contentHash) throw createChangedError('The project');
}

/** Yields the tar archive. Joins the packer's chunks, because hashing and compressing many small ones is slow. */
async function* createTar(files: readonly ProjectFile[]): AsyncGenerator<Block> {
  const { readable, controller } = createTarPacker();
  // Pass errors to the stream, so that its reader gets them.
  addFiles(controller, files).catch((error: unknown) => controller.error(error));
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of iterateStream(readable)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < blockBytes) continue;
    yield joinChunks(chunks, bytes);
    chunks = [];
    bytes = 0;
  }
  if (bytes > 0) yield joinChunks(chunks, bytes);
}

function joinChunks(chunks: readonly Uint8Array[], bytes: number): Block {
  const block = new Uint8Array(bytes);
  let offset = 0;
  for (const chunk of chunks) {
    block.set(chunk, offset);
    offset += chunk.length;
  }
  return block;
}

async function addFiles(controller: TarPackController, files: readonly ProjectFile[]): Promise<void> {
  const header = { mtime: epoch, uid: 0, gid: 0 };
  for (const file of files) {
    if (file.link !== null) {
      const { target } = file.link;
      await controller
        .add({ ...header, name: file.path, type: 'symlink', linkname: target, size: 0, mode: 0o755 })
        .close();
    } else await addFile(controller, file, header);
  }
  controller.finalize();
}

async function addFile(controller: TarPackController, { path, size, read }: ProjectFile, header: object) {
  const chunks = read()[Symbol.asyncIterator]();
  try {
    let next = await chunks.next();
    const mode = next.done !== true && isProgram(next.value) ? 0o755 : 0o644;
    const body = controller.add({ ...header, name: path, type: 'file', size, mode }).getWriter();
    let bytes = 0;
    for (; next.done !== true && bytes <= size; next = await chunks.next()) {
      bytes += next.value.length;
      if (bytes <= size) await body.write(next.value);
    }
    if (bytes !== size) throw createChangedError(path);
    await body.close();
  } finally {
    await chunks.return?.();
  }
}

/** A script with an interpreter line or an ELF program. Browsers cannot read file modes, so the first bytes decide. */
function isProgram(start: Uint8Array): boolean {
  return [
    [0x23, 0x21],
    [0x7f, 0x45, 0x4c, 0x46],
  ].some((magic) => magic.every((byte, index) => start[index] === byte));
}

function createChangedError(subject: string): PackingError {
  return new PackingError(
    'project-changed',
    `${subject} changed while the files were being read.`,
    'When no program is writing to the project, run the command again or choose the folder again.',
  );
}
