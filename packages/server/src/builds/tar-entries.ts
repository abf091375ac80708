import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { ArchiveError } from './archive-error.ts';

/** `bytes` limits all unpacked bytes. `ratio` limits unpacked to packed bytes, above `ratioFromBytes`. */
export type SizeLimits = { readonly bytes: number; readonly ratio: number };

/** Archives that unpack to at most this many bytes are harmless at any compression ratio. */
const ratioFromBytes = 16 * 1_048_576;
const chunkBytes = 256 * 1024;

/** Block size in bytes. Two blocks of zeros end an archive (POSIX pax, "ustar Interchange Format"). */
const blockBytes = 512;

/**
 * Reads a tar.gz file entry by entry. Waits for `take`, which must read an entry to its end or skip it with `resume`. Reads the
 * whole file, so that an error at any position rejects the file.
 *
 * @throws ArchiveError, the error of `take`, or the signal's reason
 */
export async function readTarEntries(
  file: { readonly path: string; readonly bytes: number },
  limits: SizeLimits,
  take: (entry: ReadEntry) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await requireGzip(file.path);
  const packed = createReadStream(file.path, { highWaterMark: chunkBytes });
  const unpacked = createGunzip({ chunkSize: chunkBytes });
  packed.on('error', (error) => unpacked.destroy(error));
  packed.pipe(unpacked);
  const read = createBlockReader(unpacked, (bytes) => {
    signal.throwIfAborted();
    enforceUnpackedSizeLimits(bytes, file.bytes, limits);
  });
  try {
    await readEntries(read, take);
    for (let rest = await read(chunkBytes); rest.length > 0; rest = await read(chunkBytes)) {
      if (!rest.every((byte) => byte === 0)) throw new ArchiveError('archive-trailing-data');
    }
    if (unpacked.bytesWritten < file.bytes) throw new ArchiveError('archive-trailing-data');
  } catch (error) {
    throw gunzipProblem(error);
  } finally {
    packed.destroy();
    unpacked.destroy();
  }
}

/** Reads the archive up to its end mark. */
async function readEntries(read: BlockReader, take: (entry: ReadEntry) => Promise<void>): Promise<void> {
  const { parser, result } = createHeaderParser();
  const first = await read(blockBytes);
  if (first.length < blockBytes || isCompressed(first)) throw new ArchiveError('archive-not-tar');
  for (let block = first; ; block = await read(blockBytes)) {
    if (block.length < blockBytes) throw new ArchiveError('archive-truncated');
    // The parser reports its result at once, because it gets one header at a time, and no header while an entry is being read.
    parser.write(block);
    const entry = result();
    if (entry === 'end') return;
    if (entry !== null) await readBody(read, parser, entry, take(entry));
  }
}

async function readBody(read: BlockReader, parser: Parser, entry: ReadEntry, taking: Promise<void>): Promise<void> {
  const ended = entry.emittedEnd ? null : once(entry, 'end');
  // The loop below awaits these promises only if the entry accepts no more data.
  for (const promise of [taking, ended]) promise?.catch(() => undefined);
  try {
    for (let left = entry.startBlockSize ?? 0; left > 0; ) {
      const blocks = await read(left);
      if (blocks.length < blockBytes) throw new ArchiveError('archive-truncated');
      left -= blocks.length;
      if (!parser.write(blocks)) await Promise.race([once(parser, 'drain'), taking]);
    }
    await taking;
    await ended;
  } catch (error) {
    entry.destroy(new Error('stopped reading the archive'));
    // `take` closes its file before the caller removes the directory.
    await taking.catch(() => undefined);
    throw error;
  }
}

/** Returns whole blocks, at most `bytes`; less than a block at the end of the archive. */
type BlockReader = (bytes: number) => Promise<Buffer>;

/** `onRead` is called with the number of bytes read so far. */
function createBlockReader(stream: AsyncIterable<Buffer>, onRead: (bytes: number) => void): BlockReader {
  const chunks = stream[Symbol.asyncIterator]();
  let pending: Buffer = Buffer.alloc(0);
  let total = 0;
  return async (bytes) => {
    onRead(total);
    while (pending.length < blockBytes) {
      const chunk = await chunks.next();
      if (chunk.done === true) break;
      total += chunk.value.length;
      onRead(total);
      pending = pending.length === 0 ? chunk.value : Buffer.concat([pending, chunk.value]);
    }
    const whole = pending.length < blockBytes ? pending.length : pending.length - (pending.length % blockBytes);
    const blocks = pending.subarray(0, Math.min(whole, bytes));
    pending = pending.subarray(blocks.length);
    return blocks;
  };
}

/**
 * Creates a parser of header blocks. `result` returns what the last block was: the header of an entry, the end of the archive, or
 * null for a part of either.
 *
 * @throws ArchiveError from `result` for an invalid header, and for an entry that the parser would skip silently
 */
function createHeaderParser() {
  let found: ReadEntry | 'end' | ArchiveError | null = null;
  let sawEntry = false;
  const set = (next: ReadEntry | 'end' | ArchiveError) => {
    if (!(found instanceof ArchiveError)) found = next;
  };
  const parser = new Parser({
    onReadEntry: (entry) => {
      entry.on('error', () => undefined);
      sawEntry = true;
      set(entry);
    },
    onwarn: () => set(new ArchiveError(sawEntry ? 'archive-corrupt' : 'archive-not-tar')),
  });
  // The parser ends a name at a NUL. Another program may see a different name, so such an archive is rejected.
  parser.on('meta', (text: string) => {
    if (hiddenName.test(text)) set(new ArchiveError('archive-path-invalid'));
  });
  parser.on('ignoredEntry', (entry: ReadEntry) => set(new ArchiveError('archive-special-file', entry.path)));
  parser.on('eof', () => set('end'));
  const result = (): ReadEntry | 'end' | null => {
    const last = found;
    found = null;
    if (last instanceof ArchiveError) throw last;
    return last;
  };
  return { parser, result };
}

/** Rejects nested compression, because the parser would unpack it without checking the size limits. */
function isCompressed(block: Buffer): boolean {
  return packings.some((magic) => block.subarray(0, magic.length).equals(magic));
}

/** Magic numbers of gzip (RFC 1952) and Zstandard (RFC 8878). */
const packings = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])];

/** @throws ArchiveError if `unpacked` bytes exceed the limits for an archive of `packed` bytes */
export function enforceUnpackedSizeLimits(unpacked: number, packed: number, limits: SizeLimits): void {
  if (unpacked > limits.bytes) throw new ArchiveError('archive-too-large-unpacked');
  if (unpacked > ratioFromBytes && unpacked > limits.ratio * packed) throw new ArchiveError('archive-bomb');
}

/** Matches a NUL in the path of an extended header, and a NUL before the end of a long name (a NUL at the end is allowed). */
const hiddenName = /(^|\n)\d+ (link)?path=[^\n]*\0|^(?!\d+ \w)[^\0]*\0+[^\0]/;

/** Converts an error of zlib to an `ArchiveError`. The file must have a valid gzip header. */
function gunzipProblem(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'Z_BUF_ERROR') return new ArchiveError('archive-truncated');
  if (code !== 'Z_DATA_ERROR') return error;
  // The header at the start of the file is valid, so this error is about data after the end of the gzip stream.
  const isBehind = error instanceof Error && error.message === 'incorrect header check';
  return new ArchiveError(isBehind ? 'archive-trailing-data' : 'archive-corrupt');
}

/** Checks the magic number of a gzip file (RFC 1952, section 2.3.1). */
async function requireGzip(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    if (bytesRead < 2 || buffer[0] !== 0x1f || buffer[1] !== 0x8b) throw new ArchiveError('archive-not-gzip');
  } finally {
    await file.close();
  }
}
