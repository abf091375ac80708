import type { FileHandle } from 'node:fs/promises';
import type { OutputFile, Timestamp } from '@bothost/runtime';
import { type FoundLine, findLines, type LineFilter } from './find-lines.ts';
import type { Mask } from './mask.ts';
import { lineStartAt, type OpenOutput, type OutputPart, partsDown, partsUp } from './output-parts.ts';
import { beginningAt, comparePositions, type Order, type Position } from './position.ts';

/** Which lines of which output. `from` is the first moment, `to` the one after the last. */
export type Wanted = {
  readonly order: Order;
  readonly filter: LineFilter;
  readonly mask: Mask | null;
  /** How far a reading before this one got. */
  readonly after: Position | null;
  readonly from: Timestamp;
  readonly to: Timestamp;
};

/** Lines with their place in the order of all. */
export type PlacedLine = { readonly position: Position; readonly line: FoundLine['line'] };

/** What an instance wrote and is wanted, in order, in batches. Each tells the bytes that were read for it. */
export async function* readOutput(
  instanceId: string,
  source: { readonly handle: FileHandle; readonly file: OutputFile },
  wanted: Wanted,
  onRead: (bytes: number) => void,
): AsyncGenerator<readonly PlacedLine[]> {
  const { order, after } = wanted;
  const output: OpenOutput = { ...source, end: endBefore(source.file, wanted.to) };
  const place = (found: FoundLine): PlacedLine => ({
    position: { at: found.at, instanceId, offset: order === 'asc' ? found.to : found.from },
    line: found.line,
  });
  for await (const part of await partsOf(instanceId, output, wanted)) {
    onRead(part.kind === 'lines' ? part.bytes.length : 0);
    const found = findLines(source.file, part, wanted.filter, wanted.mask);
    const batch = found.filter(({ at }) => at >= wanted.from && at < wanted.to).map(place);
    const fresh = after === null ? batch : batch.filter(({ position }) => isAfter(order, position, after));
    if (fresh.length > 0) yield fresh;
    const last = found.at(-1);
    if (last !== undefined && (order === 'asc' ? last.at >= wanted.to : last.at < wanted.from)) return;
  }
}

/** Up to where the output had been seen before a moment. All of it once it had ended by then. */
function endBefore({ base, marks, endedAt }: OutputFile, to: Timestamp): number {
  if (endedAt !== null && endedAt < to) return marks.at(-1)?.end ?? base;
  return marks.findLast(({ at }) => at < to)?.end ?? base;
}

async function partsOf(instanceId: string, output: OpenOutput, wanted: Wanted): Promise<AsyncGenerator<OutputPart>> {
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
