import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { ArchiveError } from './archive-error.ts';
import { createArchiveEndFinder, isAllZero } from './tar-end.ts';

/**
 * Limits on unpacking: `bytes` is the maximum total of unpacked bytes, and `ratio` the maximum ratio of unpacked to
 * packed bytes, which applies above `ratioFromBytes`.
 */
export type SizeLimits = { readonly bytes: number; readonly ratio: number };

/** Archives that unpack to at most this many bytes are harmless at any compression ratio. */
const ratioFromBytes = 16 * 1_048_576;
const chunkBytes = 256 * 1024;

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
  const problem = createProblem();
  let taking: Promise<void> = Promise.resolve();
  let current: ReadEntry | null = null;
  let sawEnd = false;
  const parser = new Parser({
    onReadEntry: (entry) => {
      current = entry;
      entry.on('error', () => undefined);
      // Chain the calls of `take`, because the parser continues with the next entry even if `take` has not settled yet.
      taking = taking.then(() => take(entry)).catch(problem.set);
    },
    onwarn: (_, message) => {
      const found = parseProblem(String(message), lastEntry(current) !== null, sawEnd);
      if (found !== null) problem.set(found);
    },
  });
  // The parser ends a name at a NUL. Another program may see a different name, so such an archive is rejected.
  parser.on('meta', (text: string) => {
    if (hiddenName.test(text)) problem.set(new ArchiveError('archive-path-invalid'));
  });
  parser.on('error', problem.set);
  // Reject entries that the parser would skip silently.
  parser.on('ignoredEntry', (entry: ReadEntry) => problem.set(new ArchiveError('archive-special-file', entry.path)));
  parser.on('eof', () => {
    sawEnd = true;
  });
  // The `end` event comes after all entries, so each entry has been read by then.
  const parsed = new Promise<void>((resolve) => parser.on('end', resolve));
  const stop = () => problem.set(signal.reason);
  signal.addEventListener('abort', stop);

  const findEnd = createArchiveEndFinder();
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
      enforceUnpackedSizeLimits(total, file.bytes, limits);
      const end: number | null = ended ? 0 : findEnd(chunk);
      ended = end !== null;
      if (!isAllZero(chunk.subarray(end ?? chunk.length))) throw new ArchiveError('archive-trailing-data');
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
    // The parser and `findEnd` disagree about the end of the archive, so the archive was manipulated.
    if (!sawEnd) throw new ArchiveError('archive-corrupt');
  } catch (error) {
    throw gunzipProblem(error);
  } finally {
    signal.removeEventListener('abort', stop);
    packed.destroy();
    unpacked.destroy();
    lastEntry(current)?.destroy(new Error('stopped reading the archive'));
    await taking;
  }
}

/**
 * Yields decompressed chunks. Rejects nested compression, because the parser would unpack it without checking the size
 * limits.
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

/** Magic numbers of gzip (RFC 1952) and Zstandard (RFC 8878). */
const packings = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])];

/** @throws ArchiveError if `unpacked` bytes exceed the limits for an archive of `packed` bytes */
export function enforceUnpackedSizeLimits(unpacked: number, packed: number, limits: SizeLimits): void {
  if (unpacked > limits.bytes) throw new ArchiveError('archive-too-large-unpacked');
  if (unpacked > ratioFromBytes && unpacked > limits.ratio * packed) throw new ArchiveError('archive-bomb');
}

/** Returns its argument. Needed because TypeScript ignores assignments in callbacks and would infer the type `null`. */
function lastEntry(entry: ReadEntry | null): ReadEntry | null {
  return entry;
}

/** Creates a container that keeps the first error of several callbacks. */
function createProblem() {
  let first: { readonly error: unknown } | null = null;
  let resolveOccurred: () => void = () => undefined;
  const occurred = new Promise<void>((resolve) => {
    resolveOccurred = resolve;
  });
  return {
    occurred,
    set: (error: unknown) => {
      first ??= { error };
      resolveOccurred();
    },
    throwIfAny: () => {
      if (first !== null) throw first.error;
    },
  };
}

/** Matches a NUL in the path of an extended header, and a NUL before the end of a long name (a NUL at the end is allowed). */
const hiddenName = /(^|\n)\d+ (link)?path=[^\n]*\0|^(?!\d+ \w)[^\0]*\0+[^\0]/;

/** Maps a warning of the parser to an error. Null if the warning is harmless. */
function parseProblem(message: string, sawEntry: boolean, sawEnd: boolean): ArchiveError | null {
  if (/Truncated/.test(message)) return new ArchiveError('archive-truncated');
  // The parser does not recognize an archive without entries. If such an archive has an end mark, it is valid but empty, and
  // the caller rejects it.
  if (/Unrecognized/.test(message)) return sawEnd ? null : new ArchiveError('archive-not-tar');
  return new ArchiveError(sawEntry ? 'archive-corrupt' : 'archive-not-tar');
}

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
