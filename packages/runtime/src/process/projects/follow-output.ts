import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import type { OutputFile, OutputOffsetRange } from '../../runtime.ts';
import type { OutputRecorder } from '../output/output-recorder.ts';

const chunkBytes = 8 * 1024;

/**
 * Maximum bytes and lines to read from the beginning and from the end of a build command's output. Build logs keep little more.
 */
const headBytes = 2 * 1024 * 1024;
const headLines = 10_000;
const tailBytes = 64 * 1024;
const tailLines = 400;
/** Longer lines are split, so that a program that never ends a line cannot fill the server's memory. */
const lineCharacters = 16 * 1024;

/**
 * Yields the lines that a program prints, until `ended` settles. If there are too many, yields the first lines, a line with the
 * number of skipped bytes, and the last lines. After an abort, throws the signal's reason when the output changes or ends.
 */
export async function* followOutput(
  output: Pick<OutputRecorder, 'describe' | 'changed'>,
  ended: Promise<unknown>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const splitter = createLineSplitter();
  let offset = 0;
  let lineCount = 0;
  while (offset < headBytes && lineCount < headLines) {
    const file = await output.describe();
    if (file === null) return;
    for await (const { from, bytes } of readRanges(file, keptRanges(file, offset, headBytes))) {
      signal.throwIfAborted();
      if (from > offset) yield skippedLine(from - offset);
      offset = from + bytes.length;
      const lines = splitter.push(bytes);
      yield* lines;
      lineCount += lines.length;
      if (lineCount >= headLines) break;
    }
    if (file.endedAt !== null) return yield* lastLines(file, offset, splitter);
    if (offset < headBytes && lineCount < headLines) await output.changed(file.marks.at(-1)?.at ?? 0).done;
    signal.throwIfAborted();
  }
  await ended;
  signal.throwIfAborted();
  const file = await output.describe();
  if (file !== null) yield* lastLines(file, offset, splitter);
}

async function* lastLines(file: OutputFile, offset: number, splitter: LineSplitter): AsyncGenerator<string> {
  const end = endOf(file);
  const from = Math.max(offset, end - tailBytes, ...file.dropped.map(({ to }) => to));
  const chunks: Buffer[] = [];
  for await (const { bytes } of readRanges(file, [{ from, to: end }])) chunks.push(Buffer.from(bytes));
  const tail = Buffer.concat(chunks);
  const start = startOfLastLines(tail, from > offset);
  if (from + start > offset) {
    yield* splitter.end();
    yield skippedLine(from + start - offset);
  }
  yield* splitter.push(tail.subarray(start)).slice(-tailLines);
  yield* splitter.end();
}

/** Where the last `tailLines` lines begin. If `isCut`, skips the first line, which may be incomplete, unless it is the only one. */
function startOfLastLines(tail: Buffer, isCut: boolean): number {
  let start = tail.length;
  for (let lines = 0; lines < tailLines; lines++) {
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

function keptRanges(file: OutputFile, from: number, to: number): readonly OutputOffsetRange[] {
  const end = Math.min(to, endOf(file));
  const ranges: OutputOffsetRange[] = [];
  let at = from;
  for (const gap of file.dropped) {
    ranges.push({ from: at, to: Math.min(gap.from, end) });
    at = Math.max(at, gap.to);
  }
  ranges.push({ from: at, to: end });
  return ranges.filter((range) => range.from < range.to);
}

/** Yields the bytes of ranges, until the file was truncated. A chunk is valid only until the next iteration. */
async function* readRanges(
  file: OutputFile,
  ranges: readonly OutputOffsetRange[],
): AsyncGenerator<{ readonly from: number; readonly bytes: Buffer }> {
  if (ranges.length === 0) return;
  const buffer = Buffer.allocUnsafe(chunkBytes);
  const handle = await open(file.path, 'r');
  try {
    for (const range of ranges) {
      for (let from = range.from; from < range.to; ) {
        const length = Math.min(chunkBytes, range.to - from);
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

type LineSplitter = {
  readonly push: (bytes: Buffer) => readonly string[];
  readonly end: () => readonly string[];
};

function createLineSplitter(): LineSplitter {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return {
    push: (bytes) => {
      // Holes in a sparse file read as NUL, which PostgreSQL cannot store in text.
      const text = decoder.write(bytes).replaceAll('\0', '');
      const lines = (rest + text).split(/\r*\n|\r+(?=[^\n])/);
      rest = lines.pop() ?? '';
      for (; rest.length > lineCharacters; rest = rest.slice(lineCharacters)) lines.push(rest.slice(0, lineCharacters));
      return lines;
    },
    end: () => {
      const last = rest + decoder.end();
      rest = '';
      return last === '' ? [] : [last];
    },
  };
}
