import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { ArchiveError } from './archive-error.ts';
import { createEndFinder, isZero } from './tar-end.ts';

/** What a tar.gz may grow to: bytes in all, and times its own size once it is past `ratioFromBytes`. */
export type SizeLimits = { readonly bytes: number; readonly ratio: number };

/** Below this an archive may be as dense as it likes: it does no harm. */
const ratioFromBytes = 16 * 1_048_576;
const chunkBytes = 256 * 1024;

/**
 * Reads a tar.gz entry by entry, the next one when `take` has settled; `take` reads an entry to its end or drops it
 * (`resume`). The file is read to its last byte: what is wrong anywhere in it refuses it.
 *
 * @throws ArchiveError, what `take` rejects with, or the signal's reason
 */
export async function readTarEntries(
  file: { readonly path: string; readonly bytes: number },
  limits: SizeLimits,
  take: (entry: ReadEntry) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await requireGzip(file.path);
  const problem = createProblem();
  let taking: Promise<void> = Promise.resolve();
  let current: ReadEntry | null = null;
  let sawEnd = false;
  const parser = new Parser({
    onReadEntry: (entry) => {
      current = entry;
      entry.on('error', () => undefined);
      // The parser goes on when an entry was read, which may be before `take` is through with it.
      taking = taking.then(() => take(entry)).catch(problem.set);
    },
    onwarn: (_, message) => {
      const found = parseProblem(String(message), lastEntry(current) !== null, sawEnd);
      if (found !== null) problem.set(found);
    },
  });
  // The parser ends a name at a NUL; whoever wrote one wants another reader to see another name.
  parser.on('meta', (text: string) => {
    if (hiddenName.test(text)) problem.set(new ArchiveError('archive-path-invalid'));
  });
  parser.on('error', problem.set);
  // What the parser would leave out in silence is refused.
  parser.on('ignoredEntry', (entry: ReadEntry) => problem.set(new ArchiveError('archive-special-file', entry.path)));
  parser.on('eof', () => {
    sawEnd = true;
  });
  // Behind everything that is queued; each entry before it has been read.
  const parsed = new Promise<void>((resolve) => parser.on('end', resolve));
  const stop = () => problem.set(signal.reason);
  signal.addEventListener('abort', stop);

  const findEnd = createEndFinder();
  const packed = createReadStream(file.path, { highWaterMark: chunkBytes });
  const unpacked = createGunzip({ chunkSize: chunkBytes });
  packed.on('error', (error) => unpacked.destroy(error));
  packed.pipe(unpacked);
  let total = 0;
  let ended = false;
  try {
    signal.throwIfAborted();
    for await (const chunk of fromFirstBlock(unpacked)) {
      total += chunk.length;
      requireSize(total, file.bytes, limits);
      const end: number | null = ended ? 0 : findEnd(chunk);
      ended = end !== null;
      if (!isZero(chunk.subarray(end ?? chunk.length))) throw new ArchiveError('archive-trailing-data');
      const accepted = end === 0 || parser.write(chunk.subarray(0, end ?? chunk.length));
      if (!accepted) await Promise.race([once(parser, 'drain'), problem.occurred]);
      problem.throwIfAny();
    }
    if (unpacked.bytesWritten < file.bytes) throw new ArchiveError('archive-trailing-data');
    parser.end();
    if (!ended) throw new ArchiveError(current === null ? 'archive-not-tar' : 'archive-truncated');
    await Promise.race([parsed, problem.occurred]);
    await taking;
    problem.throwIfAny();
    // Parser and end finder read the archive differently: somebody wants them to.
    if (!sawEnd) throw new ArchiveError('archive-corrupt');
  } catch (error) {
    throw gunzipProblem(error);
  } finally {
    signal.removeEventListener('abort', stop);
    packed.destroy();
    unpacked.destroy();
    lastEntry(current)?.destroy(new Error('given up'));
    await taking;
  }
}

/**
 * The chunks, the first of them at least a header long. The parser would unpack what is packed once more by itself, and
 * nobody would count it.
 */
async function* fromFirstBlock(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < 512) continue;
    if (packings.some((magic) => head?.subarray(0, magic.length).equals(magic))) {
      throw new ArchiveError('archive-not-tar');
    }
    yield head;
    head = null;
  }
}

/** How gzip (RFC 1952) and Zstandard (RFC 8878) begin. */
const packings = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])];

/** @throws ArchiveError when an archive of `packed` bytes may not become `unpacked` bytes */
export function requireSize(unpacked: number, packed: number, limits: SizeLimits): void {
  if (unpacked > limits.bytes) throw new ArchiveError('archive-too-large-unpacked');
  if (unpacked > ratioFromBytes && unpacked > limits.ratio * packed) throw new ArchiveError('archive-bomb');
}

/** It is set in callbacks, which the compiler does not follow. */
function lastEntry(entry: ReadEntry | null): ReadEntry | null {
  return entry;
}

/** The first thing that went wrong in a callback. */
function createProblem() {
  let first: { readonly error: unknown } | null = null;
  let tell: () => void = () => undefined;
  const occurred = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return {
    occurred,
    set: (error: unknown) => {
      first ??= { error };
      tell();
    },
    throwIfAny: () => {
      if (first !== null) throw first.error;
    },
  };
}

/** A NUL with something behind it in an extended header's path, or in a long name, which one may only end. */
const hiddenName = /(^|\n)\d+ (link)?path=[^\n]*\0|^(?!\d+ \w)[^\0]*\0+[^\0]/;

/** What the parser says of an archive, as one of ours; null where it is no problem. */
function parseProblem(message: string, sawEntry: boolean, sawEnd: boolean): ArchiveError | null {
  if (/Truncated/.test(message)) return new ArchiveError('archive-truncated');
  // An archive that has its end and nothing else is empty, which is found out later.
  if (/Unrecognized/.test(message)) return sawEnd ? null : new ArchiveError('archive-not-tar');
  return new ArchiveError(sawEntry ? 'archive-corrupt' : 'archive-not-tar');
}

/** What zlib says of a file that begins as gzip, as one of ours. */
function gunzipProblem(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'Z_BUF_ERROR') return new ArchiveError('archive-truncated');
  if (code !== 'Z_DATA_ERROR') return error;
  // The header of the file is right, so this is what stands behind its end.
  const isBehind = error instanceof Error && error.message === 'incorrect header check';
  return new ArchiveError(isBehind ? 'archive-trailing-data' : 'archive-corrupt');
}

/** RFC 1952 2.3.1 */
async function requireGzip(path: string): Promise<void> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    if (bytesRead < 2 || buffer[0] !== 0x1f || buffer[1] !== 0x8b) throw new ArchiveError('archive-not-gzip');
  } finally {
    await file.close();
  }
}
