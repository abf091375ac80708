import type { FileHandle } from 'node:fs/promises';
import type { OutputFile, OutputOffsetRange } from '@bothost/runtime';
import { isEntryHead } from './entries.ts';
import { findFirstLineStart, type LineRange, longLineBlockBytes, splitLines } from './line-breaks.ts';

/**
 * The number of bytes to read at once. Every line is shorter than 32 KiB, so each read of this size contains a complete line.
 */
const windowBytes = 256 * 1024;
/** Parts begin at the first line of an entry if it is at most this many lines away, so that an entry is in one part. */
const maxEntryLines = 300;

/** An output file that is open for reading. Readers stop at the offset `end` of the output. */
export type OutputFileHandle = {
  readonly handle: FileHandle;
  readonly file: OutputFile;
  readonly end: number;
};

/**
 * A part of a bot's output. `lines` are ranges of offsets in the output, in ascending order if the output is read forward,
 * otherwise in descending order. `bytes` contains these lines, and its first byte has the offset `from`. The next part
 * overwrites `bytes`. A `gap` is a range of the output that was dropped.
 */
export type OutputPart =
  | { readonly kind: 'lines'; readonly bytes: Buffer; readonly from: number; readonly lines: readonly LineRange[] }
  | { readonly kind: 'gap'; readonly gap: OutputOffsetRange };

/**
 * A range of a bot's output in which no output was dropped. `end` says what follows the range: a gap of dropped output, or the
 * end of the output. `end` is null for the last range while the bot may still write output.
 */
type Region = OutputOffsetRange & { readonly end: 'output' | 'gap' | null };

/**
 * Yields the lines of an output, and the gaps where output was dropped, in order. Starts at the offset `from`. If output at
 * `from` was dropped since the previous page was read, the first part is this gap.
 */
export async function* readOutputPartsForward(output: OutputFileHandle, from: number): AsyncGenerator<OutputPart> {
  const read = createRangeReader(output);
  for (const { region, gap } of regionsOf(output)) {
    if (gap !== null && from < gap.to) yield { kind: 'gap', gap };
    let at = Math.max(from, region.from);
    while (at < region.to) {
      const to = Math.min(at + windowBytes, region.to);
      const bytes = await read(at, to);
      const found = splitLines(bytes, at);
      const { end } = region;
      const lines = to === region.to && end !== null ? withLast(found, at, at + bytes.length, end) : found;
      const next = lines.at(-1)?.to;
      if (next === undefined) break;
      const head = to === region.to ? undefined : findLastHead(bytes, at, lines);
      const whole = head === undefined || head.from === at ? lines : lines.filter((line) => line.from < head.from);
      yield { kind: 'lines', bytes, from: at, lines: whole };
      at = whole.at(-1)?.to ?? next;
    }
  }
}

/** Yields lines, and gaps where output was dropped, in reverse order from `to`, which must not be inside a line. */
export async function* readOutputPartsBackward(output: OutputFileHandle, to: number): AsyncGenerator<OutputPart> {
  const read = createRangeReader(output);
  for (const { region, gap } of regionsOf(output).reverse()) {
    let at = Math.min(to, region.to);
    while (at > region.from) {
      const from = Math.max(region.from, at - windowBytes);
      const bytes = await read(from, at);
      const start = from === region.from ? from : (findFirstLineStart(bytes, from) ?? from);
      const end = at === region.to ? (region.end ?? 'block') : 'block';
      const found = withLast(splitLines(bytes.subarray(start - from), start), start, from + bytes.length, end);
      const isFirst = from === region.from;
      const head = isFirst ? -1 : found.slice(0, maxEntryLines).findIndex((line) => isEntryHead(bytes, from, line));
      const whole = found.slice(Math.max(0, head));
      yield { kind: 'lines', bytes, from, lines: [...whole].reverse() };
      at = whole[0]?.from ?? start;
    }
    if (gap !== null && to > gap.from) yield { kind: 'gap', gap };
  }
}

/** The start of the line that contains `offset`, even if it is not written yet. `offset` itself in a dropped range. */
export async function findLineStart(output: OutputFileHandle, offset: number): Promise<number> {
  const regions = regionsOf(output).map(({ region }) => region);
  const region = regions.find(({ to }) => offset <= to);
  if (region === undefined) return offset;
  if (offset <= region.from) return offset;
  const from = Math.max(region.from, offset - 3 * longLineBlockBytes);
  const read = createRangeReader(output);
  const bytes = await read(from, Math.min(region.to, offset + 2 * longLineBlockBytes));
  const start = from === region.from ? from : (findFirstLineStart(bytes, from) ?? from);
  const lines = splitLines(bytes.subarray(start - from), start);
  return Math.max(start, ...lines.flatMap((line) => [line.from, line.to]).filter((at) => at <= offset));
}

/** The start of the last entry before `offset`, the start of a line. `offset` itself if none starts shortly before it. */
export async function findEntryStart(output: OutputFileHandle, offset: number): Promise<number> {
  const region = regionsOf(output).find(({ region: { from, to } }) => from < offset && offset <= to)?.region;
  if (region === undefined) return offset;
  const from = Math.max(region.from, offset - windowBytes / 4);
  const bytes = await createRangeReader(output)(from, offset);
  const start = from === region.from ? from : (findFirstLineStart(bytes, from) ?? offset);
  const lines = splitLines(bytes.subarray(start - from), start);
  return findLastHead(bytes, from, lines)?.from ?? offset;
}

function findLastHead(bytes: Buffer, from: number, lines: readonly LineRange[]): LineRange | undefined {
  return lines.slice(-maxEntryLines).findLast((line) => isEntryHead(bytes, from, line));
}

function regionsOf({
  file,
  end,
}: OutputFileHandle): { readonly region: Region; readonly gap: OutputOffsetRange | null }[] {
  const gaps = file.dropped.filter(({ to }) => to <= end);
  const starts: { gap: OutputOffsetRange | null; from: number }[] = [
    { gap: null, from: 0 },
    ...gaps.map((gap) => ({ gap, from: gap.to })),
  ];
  return starts.map(({ gap, from }, index) => {
    const next = gaps[index];
    const last = file.endedAt === null ? null : 'output';
    return { gap, region: { from, to: next?.from ?? Math.max(from, end), end: next === undefined ? last : 'gap' } };
  });
}

function withLast(lines: readonly LineRange[], from: number, to: number, end: LineRange['end']): readonly LineRange[] {
  const last = lines.at(-1)?.to ?? from;
  return last < to ? [...lines, { from: last, to, end }] : lines;
}

/**
 * Returns a function that reads a range of an output. Each call overwrites the buffer that the previous call returned. With a new
 * buffer for each call, a search would make V8 collect garbage many times per second.
 */
function createRangeReader({ handle, file }: OutputFileHandle) {
  let buffer = Buffer.alloc(0);
  return async (from: number, to: number): Promise<Buffer> => {
    if (buffer.length < to - from) buffer = Buffer.allocUnsafe(to - from);
    const { bytesRead } = await handle.read(buffer, 0, to - from, from - file.base);
    return buffer.subarray(0, bytesRead);
  };
}
