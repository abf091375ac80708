import type { FileHandle } from 'node:fs/promises';
import type { OutputFile, Timestamp } from '@bothost/runtime';
import type { Mask } from './mask.ts';
import { lineStartAt, type OpenOutput, type OutputPart, partsDown, partsUp } from './output-parts.ts';
import { beginningAt, comparePositions, type Order, type Position } from './position.ts';
import { type LineFilter, type ScannedLine, scanLines } from './scan-lines.ts';

/** `from` is inclusive, `to` exclusive. */
export type ReadRequest = {
  readonly order: Order;
  readonly filter: LineFilter;
  readonly mask: Mask | null;
  /** Where the previous page ended. */
  readonly after: Position | null;
  readonly from: Timestamp;
  readonly to: Timestamp;
};

/** A line, or null for one that does not match, with its position in the total order. */
export type PositionedLine = { readonly position: Position; readonly line: ScannedLine['line'] };

/** Yields the matching lines of an instance's output, in order, in batches. Calls `onRead` with the bytes read for each. */
export async function* readOutput(
  instanceId: string,
  source: { readonly handle: FileHandle; readonly file: OutputFile },
  wanted: ReadRequest,
  onRead: (bytes: number) => void,
): AsyncGenerator<readonly PositionedLine[]> {
  const { order, after } = wanted;
  const output: OpenOutput = { ...source, end: endBefore(source.file, wanted.to) };
  const place = (found: ScannedLine): PositionedLine => ({
    position: { at: found.at, instanceId, offset: order === 'asc' ? found.to : found.from },
    line: found.line,
  });
  for await (const part of await partsOf(instanceId, output, wanted)) {
    onRead(part.kind === 'lines' ? part.bytes.length : 0);
    const found = scanLines(source.file, part, wanted.filter, wanted.mask);
    const batch = found.filter(({ at }) => at >= wanted.from && at < wanted.to).map(place);
    const fresh = after === null ? batch : batch.filter(({ position }) => isAfter(order, position, after));
    if (fresh.length > 0) yield fresh;
    const last = found.at(-1);
    if (last !== undefined && (order === 'asc' ? last.at >= wanted.to : last.at < wanted.from)) return;
  }
}

/** The offset up to which the output was seen before `to`; its end if it had ended before. */
function endBefore({ base, marks, endedAt }: OutputFile, to: Timestamp): number {
  if (endedAt !== null && endedAt < to) return marks.at(-1)?.end ?? base;
  return marks.findLast(({ at }) => at < to)?.end ?? base;
}

async function partsOf(
  instanceId: string,
  output: OpenOutput,
  wanted: ReadRequest,
): Promise<AsyncGenerator<OutputPart>> {
  const { file, end } = output;
  const after = wanted.after?.instanceId === instanceId ? wanted.after.offset : null;
  if (wanted.order === 'asc') {
    const first = comparePositions(wanted.after ?? beginningAt(0), beginningAt(wanted.from)) > 0 ? wanted.after : null;
    const since = Math.max(first?.at ?? 0, wanted.from);
    const seen = file.marks.findLast(({ at }) => at < since)?.end ?? 0;
    return partsUp(output, after ?? (seen === 0 ? 0 : await lineStartAt(output, seen)));
  }
  if (after !== null) return partsDown(output, after);
  const until = wanted.after?.at ?? Number.POSITIVE_INFINITY;
  const last = Math.min(end, file.marks.findLast(({ at }) => at <= until)?.end ?? 0);
  const isWhole = file.endedAt !== null && last === file.marks.at(-1)?.end;
  return partsDown(output, isWhole ? last : await lineStartAt(output, last));
}

function isAfter(order: Order, position: Position, after: Position): boolean {
  const difference = comparePositions(position, after);
  return order === 'asc' ? difference > 0 : difference < 0;
}
