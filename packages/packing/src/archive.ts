import { createTarPacker, type TarPackController } from 'modern-tar';
import { PackingError } from './packing-error.ts';
import type { ProjectFile } from './project-files.ts';
import { iterateStream } from './read-stream.ts';

/** A part of a tar archive. */
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
  for await (const block of iterateStream(createTar(files))) {
    sha256.update(block);
    bytes += block.length;
    onProgress(bytes);
  }
  return sha256.toHex();
}

/**
 * Returns the tar archive of files in blocks. The stream fails with a `PackingError` if the files no longer have the given
 * content hash. Each platform compresses it with its own gzip.
 */
export function packFiles(files: readonly ProjectFile[], contentHash: string, sha256: Sha256): ReadableStream<Block> {
  const verifying = new TransformStream<Block, Block>({
    transform: (block, controller) => {
      sha256.update(block);
      controller.enqueue(block);
    },
    flush: () => {
      if (sha256.toHex() !== contentHash) throw createChangedError('The project');
    },
  });
  return createTar(files).pipeThrough(verifying);
}

function createTar(files: readonly ProjectFile[]): ReadableStream<Block> {
  const { readable, controller } = createTarPacker();
  // Pass errors to the stream, so that its reader gets them.
  addFiles(controller, files).catch((error: unknown) => controller.error(error));
  return readable.pipeThrough(createBlockStream());
}

/** Joins chunks into blocks of at least `blockBytes`, because compressing many small chunks is slow. */
function createBlockStream(): TransformStream<Uint8Array, Block> {
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  const emit = (controller: TransformStreamDefaultController<Block>) => {
    const block = new Uint8Array(bytes);
    let at = 0;
    for (const chunk of chunks) {
      block.set(chunk, at);
      at += chunk.length;
    }
    chunks = [];
    bytes = 0;
    controller.enqueue(block);
  };
  return new TransformStream({
    transform: (chunk, controller) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= blockBytes) emit(controller);
    },
    flush: (controller) => {
      if (bytes > 0) emit(controller);
    },
  });
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

function createChangedError(subject: string): PackingError {
  return new PackingError(
    'project-changed',
    `${subject} changed while the files were being read.`,
    'When no program is writing to the project, run the command again or choose the folder again.',
  );
}
