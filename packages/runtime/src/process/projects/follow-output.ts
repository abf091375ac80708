import { open } from 'node:fs/promises';
import type { OffsetRange, OutputFile } from '../../runtime.ts';
import type { Output } from '../output/output.ts';
import { createLineSplitter, type LineSplitter } from './line-splitter.ts';

/** A small chunk, so that the event loop runs other work between chunks. */
const CHUNK_BYTES = 8 * 1024;

/**
 * Limits on the bytes that are read, so that the work does not grow with the length of the output. Build logs keep
 * little more than this.
 */
const HEAD_BYTES = 2 * 1024 * 1024;
const HEAD_LINES = 10_000;
const TAIL_BYTES = 64 * 1024;
const TAIL_LINES = 400;

/**
 * Yields the lines of an output while its program runs; `ended` resolves when the program has ended. For a long output,
 * yields the beginning, then a line with the number of skipped bytes, then the last lines. After an abort, throws the
 * signal's reason as soon as the output changes or ends.
 */
export async function* followOutput(
  output: Pick<Output, 'describe' | 'changed'>,
  ended: Promise<unknown>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const splitter = createLineSplitter();
  let offset = 0;
  let lineCount = 0;
  while (offset < HEAD_BYTES && lineCount < HEAD_LINES) {
    const file = await output.describe();
    if (file === null) return;
    for await (const { from, bytes } of readRanges(file, keptRanges(file, offset, HEAD_BYTES))) {
      signal.throwIfAborted();
      if (from > offset) yield skippedLine(from - offset);
      offset = from + bytes.length;
      const lines = splitter.push(bytes);
      yield* lines;
      lineCount += lines.length;
      if (lineCount >= HEAD_LINES) break;
    }
    if (file.endedAt !== null) return yield* lastLines(file, offset, splitter);
    if (offset < HEAD_BYTES && lineCount < HEAD_LINES) await output.changed(file.marks.at(-1)?.at ?? 0).done;
    signal.throwIfAborted();
  }
  await ended;
  signal.throwIfAborted();
  const file = await output.describe();
  if (file !== null) yield* lastLines(file, offset, splitter);
}

/** The lines after `offset`, limited to the last ones. */
async function* lastLines(file: OutputFile, offset: number, splitter: LineSplitter): AsyncGenerator<string> {
  const end = endOf(file);
  const from = Math.max(offset, end - TAIL_BYTES, ...file.dropped.map(({ to }) => to));
  const chunks: Buffer[] = [];
  for await (const { bytes } of readRanges(file, [{ from, to: end }])) chunks.push(Buffer.from(bytes));
  const tail = Buffer.concat(chunks);
  const start = startOfLastLines(tail, from > offset);
  if (from + start > offset) {
    yield* splitter.end();
    yield skippedLine(from + start - offset);
  }
  yield* splitter.push(tail.subarray(start)).slice(-TAIL_LINES);
  yield* splitter.end();
}

/**
 * The index at which the last lines begin. If `isCut`, the first line may be incomplete, so it is skipped unless it is
 * the only one.
 */
function startOfLastLines(tail: Buffer, isCut: boolean): number {
  let start = tail.length;
  for (let lines = 0; lines < TAIL_LINES; lines++) {
    const newline = start < 2 ? -1 : tail.lastIndexOf('\n', start - 2);
    if (newline === -1) return isCut && lines > 0 ? start : 0;
    start = newline + 1;
  }
  return start;
}

function skippedLine(bytes: number): string {
  return `... ${bytes} bytes of output skipped ...`;
}

function endOf(file: OutputFile): number {
  return file.marks.at(-1)?.end ?? file.base;
}

/** The ranges of an output between two offsets, without the dropped ones. */
function keptRanges(file: OutputFile, from: number, to: number): readonly OffsetRange[] {
  const end = Math.min(to, endOf(file));
  const ranges: OffsetRange[] = [];
  let at = from;
  for (const gap of file.dropped) {
    ranges.push({ from: at, to: Math.min(gap.from, end) });
    at = Math.max(at, gap.to);
  }
  ranges.push({ from: at, to: end });
  return ranges.filter((range) => range.from < range.to);
}

/**
 * Reads the chunks of a range, or fewer if the file was truncated. The yielded bytes are valid only until the next
 * iteration.
 */
async function* readRanges(
  file: OutputFile,
  ranges: readonly OffsetRange[],
): AsyncGenerator<{ readonly from: number; readonly bytes: Buffer }> {
  if (ranges.length === 0) return;
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  const handle = await open(file.path, 'r');
  try {
    for (const range of ranges) {
      for (let from = range.from; from < range.to; ) {
        const length = Math.min(CHUNK_BYTES, range.to - from);
        const { bytesRead } = await handle.read(buffer, 0, length, from - file.base);
        if (bytesRead === 0) return;
        yield { from, bytes: buffer.subarray(0, bytesRead) };
        from += bytesRead;
      }
    }
  } finally {
    await handle.close();
  }
}
