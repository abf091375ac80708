import { type LogLevel, type LogLine, logLevels } from '@bothost/contract';
import type { OffsetRange, OutputFile, Timestamp } from '@bothost/runtime';
import { blockBytes, type LineRange } from './line-breaks.ts';
import { followsBlock, type LineCut, type Mask } from './mask.ts';
import type { OutputPart } from './output-parts.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
const colours = /\x1b\[[0-9;]*m/g;
const pipecatLine = new RegExp(String.raw`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \| (${logLevels.join('|')}) *\|`);

/** What a line has to be like. `text` is in lower case. */
export type LineFilter = { readonly text: string | undefined; readonly level: LogLevel | undefined };

/** A line of an output, or a gap in it, with where it lies and when it was seen. */
export type FoundLine = {
  readonly from: number;
  readonly to: number;
  readonly at: Timestamp;
  /** Null when it is not what is looked for: the reading has got past it. */
  readonly line: Omit<LogLine, 'deploymentId' | 'instanceId' | 'sessionId'> | null;
};

/**
 * The lines of a part that a filter lets through, in the part's order, and at its end one that says how far it goes. What is
 * masked cannot be looked for either.
 */
export function findLines(
  file: OutputFile,
  part: OutputPart,
  filter: LineFilter,
  mask: Mask | null = null,
): readonly FoundLine[] {
  if (part.kind === 'gap') return [gapLine(file, part.gap, filter)];
  const last = part.lines.at(-1);
  if (last === undefined) return [];
  const end: FoundLine = { ...last, at: stampOf(file, last).at, line: null };
  if (!mayContain(part.bytes, filter)) return [end];
  const conceal = mask?.(part.bytes) ?? null;
  const found: FoundLine[] = [];
  for (const range of part.lines) {
    const bytes = part.bytes.subarray(range.from - part.from, range.to - part.from);
    // Dropped while it was being read.
    if (bytes.length > 1 && bytes[0] === 0 && bytes.every((byte) => byte === 0)) continue;
    const written = bytes.toString('utf8').replace(/\r?\n$/, '');
    const log = conceal?.(written, cutOf(file, range)) ?? written;
    // Also of a line of which nothing else may be shown.
    const level = levelOf(written);
    if (filter.text !== undefined && !log.toLowerCase().includes(filter.text)) continue;
    if (filter.level !== undefined && !isAtLeast(level, filter.level)) continue;
    const seen = stampOf(file, range);
    const more = {
      ...(seen.unattended ? { unattended: true } : {}),
      ...(range.end === 'block' ? { continued: true } : {}),
    };
    found.push({ ...range, at: seen.at, line: { log, timestamp: seen.timestamp, level, ...more } });
  }
  found.push(end);
  return found;
}

/** A long line is cut where a block of it is full, and where a gap begins and ends in it. */
function cutOf({ dropped }: OutputFile, range: LineRange): LineCut {
  return {
    atStart: followsBlock(range) || dropped.some(({ to }) => to === range.from),
    atEnd: range.end === 'block' || range.end === 'gap',
  };
}

function gapLine(file: OutputFile, gap: OffsetRange, filter: LineFilter): FoundLine {
  const seen = stampOf(file, { ...gap, end: 'gap' });
  const place = { ...gap, at: seen.at };
  if (filter.text !== undefined || filter.level !== undefined) return { ...place, line: null };
  const droppedBytes = gap.to - gap.from;
  const log = `(${droppedBytes} bytes of output were dropped here: the bot wrote more than the limit)`;
  return { ...place, line: { log, timestamp: seen.timestamp, level: null, droppedBytes } };
}

/** A quick look at a whole part. ASCII alone, whose bytes are part of no other character and have one lower case each. */
function mayContain(bytes: Buffer, { text }: LineFilter): boolean {
  // An asterisk may be of a mask.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (text === undefined || text.includes('*') || !/^[\x00-\x7f]*$/.test(text)) return true;
  return bytes.toString('latin1').toLowerCase().includes(text);
}

/**
 * A line was seen at the first mark that covers it, one that is broken when its block was full, and a last one without a
 * break at the end of the output. Within a mark the last three digits rise with the offset: only the order is known there.
 */
function stampOf(file: OutputFile, { to, end }: LineRange) {
  const { marks, endedAt } = file;
  const index = firstMarkAt(file, end === 'block' ? Math.ceil(to / blockBytes) * blockBytes : to);
  const mark = marks[index];
  const unattended = mark?.unattended ?? false;
  if (mark === undefined || (end === 'output' && endedAt !== null)) {
    const at = endedAt ?? 0;
    return { at, unattended, timestamp: formatTimestamp(at, 0) };
  }
  const begin = marks[index - 1]?.end ?? 0;
  const share = Math.max(0, Math.min(1, (to - begin) / (mark.end - begin)));
  return { at: mark.at, unattended, timestamp: formatTimestamp(mark.at, Math.round(share * 999)) };
}

/** Index of the first mark whose end is not before `offset`. */
function firstMarkAt({ marks }: OutputFile, offset: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.end ?? 0) >= offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

function formatTimestamp(at: Timestamp, nanoseconds: number): string {
  const micro = String(at % 1000).padStart(3, '0');
  const nano = String(nanoseconds).padStart(3, '0');
  return new Date(Math.floor(at / 1000)).toISOString().replace('Z', `${micro}${nano}Z`);
}

/** The level of a line in the Pipecat format, with or without colours; null for any other. */
export function levelOf(text: string): LogLevel | null {
  const start = text.slice(0, 120).replace(colours, '');
  return (pipecatLine.exec(start)?.[1] as LogLevel | undefined) ?? null;
}

export function isAtLeast(level: LogLevel | null, least: LogLevel): boolean {
  return level !== null && logLevels.indexOf(level) >= logLevels.indexOf(least);
}
