import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { Gzip } from 'fflate';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { PackingError } from './packing-error.ts';
import type { ProjectFile } from './project-files.ts';
import { iterateStream } from './read-stream.ts';

export type Archive = {
  readonly bytes: number;
  /** The SHA-256 of the archive in hexadecimal. */
  readonly contentHash: string;
};

/**
 * Size of the compressor's input blocks. The size is fixed, because the compressed bytes depend on the boundaries between blocks.
 */
const blockBytes = 65_536;
const epoch = new Date(0);

/**
 * Packs files as tar.gz, and passes the chunks of the archive to `write`. The archive is reproducible: times, owners and modes
 * are normalized, and the same library (fflate) compresses it on every platform. Throws a `PackingError` if the size of a file
 * has changed.
 */
export async function writeArchive(
  files: readonly ProjectFile[],
  write: (chunk: Uint8Array<ArrayBuffer>) => Promise<void>,
): Promise<Archive> {
  const { readable, controller } = createTarPacker();
  // Pass errors to the stream, so that the loop that reads the stream throws them.
  addFiles(controller, files).catch((error: unknown) => controller.error(error));
  const compressed: Uint8Array<ArrayBuffer>[] = [];
  const gzip = new Gzip({ level: 6, mtime: 0 }, (chunk) => compressed.push(chunk));
  const hash = sha256.create();
  let bytes = 0;
  const writeCompressed = async () => {
    for (const chunk of compressed.splice(0)) {
      hash.update(chunk);
      bytes += chunk.length;
      await write(chunk);
    }
  };
  for await (const block of divide(readable)) {
    gzip.push(block);
    await writeCompressed();
  }
  gzip.push(new Uint8Array(), true);
  await writeCompressed();
  return { bytes, contentHash: bytesToHex(hash.digest()) };
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
  let next = await chunks.next();
  const mode = next.done !== true && isProgram(next.value) ? 0o755 : 0o644;
  const body = controller.add({ ...header, name: path, type: 'file', size, mode }).getWriter();
  let bytes = 0;
  for (; next.done !== true; next = await chunks.next()) {
    bytes += next.value.length;
    if (bytes > size) break;
    await body.write(next.value);
  }
  if (bytes !== size) {
    await chunks.return?.();
    throw new PackingError(
      'project-changed',
      `${path} changed while it was being packed.`,
      'Try again when no program is writing to the file.',
    );
  }
  await body.close();
}

/**
 * Whether a file is a script with an interpreter line or an ELF program. The first bytes decide, because browsers cannot read
 * file modes.
 */
function isProgram(start: Uint8Array): boolean {
  return [
    [0x23, 0x21],
    [0x7f, 0x45, 0x4c, 0x46],
  ].some((magic) => magic.every((byte, index) => start[index] === byte));
}

/** Divides a stream into blocks of `blockBytes`. The last block may be smaller. */
async function* divide(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block = new Uint8Array(blockBytes);
  let filled = 0;
  for await (const chunk of iterateStream(stream)) {
    for (let rest = chunk; rest.length > 0; ) {
      const part = rest.subarray(0, blockBytes - filled);
      block.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
      if (filled < blockBytes) continue;
      yield block;
      block = new Uint8Array(blockBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}
