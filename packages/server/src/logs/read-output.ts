import type { FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { EpochMicroseconds, OutputFile } from '@bothost/runtime';
import type { SecretMask } from './mask.ts';
import {
  findEntryStart,
  findLineStart,
  type OutputFileHandle,
  type OutputPart,
  readOutputPartsBackward,
  readOutputPartsForward,
} from './output-parts.ts';
import { comparePositions, getLogPositionAtTime, type LogPosition, type SortOrder } from './position.ts';
import { type LineFilter, lookUpEntries, type ScannedLine, scanForMatchingLines } from './scan-lines.ts';

/** The time range includes `from` and excludes `to`. */
export type OutputReadRequest = {
  readonly order: SortOrder;
  readonly filter: LineFilter;
  readonly mask: SecretMask | null;
  readonly after: LogPosition | null;
  readonly from: EpochMicroseconds;
  readonly to: EpochMicroseconds;
};

/** A line with its position in the total order. */
export type PositionedLine = { readonly position: LogPosition } & Pick<ScannedLine, 'decode'>;

const linesPerBatch = 1_000;

/** Yields matching lines in order and in batches. `onRead` gets the number of bytes of each batch. */
export async function* readOutput(
  instanceId: string,
  source: { readonly handle: FileHandle; readonly file: OutputFile },
  request: OutputReadRequest,
  onRead: (bytes: number) => void,
): AsyncGenerator<readonly PositionedLine[]> {
  const { order, after } = request;
  const output: OutputFileHandle = { ...source, end: endBefore(source.file, request.to) };
  /** Milliseconds spent on scanning and decoding since the last pause. */
  let busyMs = 0;
  const measure = <T>(work: () => T): T => {
    const startedAt = performance.now();
    const result = work();
    busyMs += performance.now() - startedAt;
    return result;
  };
  const place = ({ at, from, to, decode }: ScannedLine): PositionedLine => ({
    position: { at, instanceId, offset: order === 'asc' ? to : from },
    decode: decode === null ? null : () => measure(decode),
  });
  for await (const whole of await partsOf(instanceId, output, request)) {
    const entryOf = lookUpEntries(whole);
    for (const part of batchesOf(whole, request.filter)) {
      onRead(part.kind === 'lines' ? part.bytes.length : 0);
      const found = measure(() => scanForMatchingLines(source.file, part, request.filter, request.mask, entryOf));
      // Pause for as long as the work took, so that other requests get at least half of the event loop's time.
      await delay(busyMs);
      busyMs = 0;
      const batch = found.filter(({ at }) => at >= request.from && at < request.to).map(place);
      const fresh = after === null ? batch : batch.filter(({ position }) => isAfter(order, position, after));
      if (fresh.length > 0) yield fresh;
      const last = found.at(-1);
      if (last !== undefined && (order === 'asc' ? last.at >= request.to : last.at < request.from)) return;
    }
  }
}

/**
 * Splits a chunk of output into batches of lines. If the caller stops when its response page is full, the remaining batches are
 * not decoded. A chunk is not split for a text search, which scans all bytes of the chunk at once.
 */
function* batchesOf(part: OutputPart, { text }: LineFilter): Generator<OutputPart> {
  if (part.kind === 'gap' || text !== undefined) {
    yield part;
    return;
  }
  for (let index = 0; index < part.lines.length; index += linesPerBatch) {
    const lines = part.lines.slice(index, index + linesPerBatch);
    const from = Math.min(...lines.map((line) => line.from));
    const to = Math.max(...lines.map((line) => line.to));
    yield { kind: 'lines', bytes: part.bytes.subarray(from - part.from, to - part.from), from, lines };
  }
}

/** The offset of the output that had arrived before the time `to`, or its end if it had ended by then. */
function endBefore({ base, marks, endedAt }: OutputFile, to: EpochMicroseconds): number {
  if (endedAt !== null && endedAt < to) return marks.at(-1)?.end ?? base;
  return marks.findLast(({ at }) => at < to)?.end ?? base;
}

async function partsOf(
  instanceId: string,
  output: OutputFileHandle,
  request: OutputReadRequest,
): Promise<AsyncGenerator<OutputPart>> {
  const { file, end } = output;
  const after = request.after?.instanceId === instanceId ? request.after.offset : null;
  if (request.order === 'asc') {
    const first =
      comparePositions(request.after ?? getLogPositionAtTime(0), getLogPositionAtTime(request.from)) > 0
        ? request.after
        : null;
    const since = Math.max(first?.at ?? 0, request.from);
    const seen = file.marks.findLast(({ at }) => at < since)?.end ?? 0;
    const start = after ?? (seen === 0 ? 0 : await findLineStart(output, seen));
    // Lines before `start` are not in the result, but they say which entry the first lines continue.
    return readOutputPartsForward(output, await findEntryStart(output, start));
  }
  if (after !== null) return readOutputPartsBackward(output, after);
  const until = request.after?.at ?? Number.POSITIVE_INFINITY;
  const last = Math.min(end, file.marks.findLast(({ at }) => at <= until)?.end ?? 0);
  const isWhole = file.endedAt !== null && last === file.marks.at(-1)?.end;
  return readOutputPartsBackward(output, isWhole ? last : await findLineStart(output, last));
}

export function isAfter(order: SortOrder, position: LogPosition, after: LogPosition): boolean {
  const difference = comparePositions(position, after);
  return order === 'asc' ? difference > 0 : difference < 0;
}
