import { type LogLevel, type LogLine, logLevels } from '@bothost/contract';
import type { EpochMicroseconds, OutputFile, OutputOffsetRange } from '@bothost/runtime';
import { createEntryLookup, type EntryLookup, type LineEntry } from './entries.ts';
import { type LineRange, longLineBlockBytes } from './line-breaks.ts';
import { isPossibleLineContinuation, type LineTruncation, type SecretMask } from './mask.ts';
import type { OutputPart } from './output-parts.ts';
import { findTimeWithin } from './written-time.ts';

/** Lines with `text` (in lower case), ignoring case, and at least `level`. An undefined field matches every line. */
export type LineFilter = { readonly text: string | undefined; readonly level: LogLevel | undefined };

/** The content of a line as the API returns it, with its secret values masked. */
export type LogLineContent = Omit<LogLine, 'deploymentId' | 'instanceId' | 'sessionId'>;

/** A line of an output, or a gap in the output, with its offsets and the time at which the server received it. */
export type ScannedLine = {
  readonly from: number;
  readonly to: number;
  readonly at: EpochMicroseconds;
  /**
   * Decodes and masks the line, which takes longer than finding it. Must be called before the next part of the output is read,
   * which overwrites the line's bytes. Null if the line does not match the filter: this entry only records how far the scan got.
   */
  readonly decode: (() => LogLineContent) | null;
};

/** Filters the masked text, so that a search reveals no secret. `entryOf` is needed for entries that begin before `part`. */
export function scanForMatchingLines(
  file: OutputFile,
  part: OutputPart,
  filter: LineFilter,
  mask: SecretMask | null = null,
  entryOf: EntryLookup = lookUpEntries(part),
): readonly ScannedLine[] {
  if (part.kind === 'gap') return [gapLine(file, part.gap, filter)];
  const last = part.lines.at(-1);
  if (last === undefined) return [];
  const end: ScannedLine = { ...last, at: seenAt(file, last).at, decode: null };
  if (!mayContain(part.bytes, filter)) return [end];
  const conceal = mask?.(part.bytes) ?? null;
  const found: ScannedLine[] = [];
  for (const range of part.lines) {
    const bytes = part.bytes.subarray(range.from - part.from, range.to - part.from);
    // Skip a line of zeros: its bytes were dropped while the file was being read.
    if (bytes.length > 1 && bytes[0] === 0 && bytes.every((byte) => byte === 0)) continue;
    if (filter.level !== undefined && !isLevelAtLeast(entryOf(range)?.level ?? null, filter.level)) continue;
    const decodeText = () => {
      const written = bytes.toString('utf8').replace(/\r?\n$/, '');
      return conceal?.(written, cutOf(file, range)) ?? written;
    };
    const text = filter.text === undefined ? null : decodeText();
    if (filter.text !== undefined && !text?.toLowerCase().includes(filter.text)) continue;
    const decode = () => toLineContent(file, range, text ?? decodeText(), entryOf(range));
    found.push({ ...range, at: seenAt(file, range).at, decode });
  }
  found.push(end);
  return found;
}

export function lookUpEntries(part: OutputPart): EntryLookup {
  return part.kind === 'gap' ? () => null : createEntryLookup(part.bytes, part.from, part.lines);
}

function toLineContent(file: OutputFile, range: LineRange, log: string, entry: LineEntry | null): LogLineContent {
  const read = seenAt(file, range);
  const readAt = formatTimestamp(read.at, read.nanoseconds);
  const time = entry?.time ?? null;
  const written = time === null ? null : findTimeWithin(time, read);
  return {
    log,
    level: entry?.level ?? null,
    timestamp: written === null ? readAt : formatTimestamp(written.at, written.nanoseconds),
    ...(written === null ? {} : { readAt }),
    ...(entry?.isContinuation ? { continuesEntry: true } : {}),
    ...(read.unattended ? { unattended: true } : {}),
    ...(range.end === 'block' ? { continued: true } : {}),
  };
}

function matchesAllLines({ text, level }: LineFilter): boolean {
  return text === undefined && level === undefined;
}

/**
 * Returns whether the start and the end of a range are cut, so that they are not the start and the end of a line. They are cut
 * where a line was split because of its length, and where output next to the range was dropped.
 */
function cutOf({ dropped }: OutputFile, range: LineRange): LineTruncation {
  return {
    atStart: isPossibleLineContinuation(range) || dropped.some(({ to }) => to === range.from),
    atEnd: range.end === 'block' || range.end === 'gap',
  };
}

function gapLine(file: OutputFile, gap: OutputOffsetRange, filter: LineFilter): ScannedLine {
  const seen = seenAt(file, { ...gap, end: 'gap' });
  const place = { ...gap, at: seen.at };
  if (!matchesAllLines(filter)) return { ...place, decode: null };
  const droppedBytes = gap.to - gap.from;
  const log = `(${droppedBytes} bytes of output were dropped here: the bot wrote more than the limit)`;
  const timestamp = formatTimestamp(seen.at, seen.nanoseconds);
  return { ...place, decode: () => ({ log, timestamp, level: null, droppedBytes }) };
}

/**
 * Quick check: returns false only if the output in `bytes` certainly does not contain the filter's text. If the filter's text
 * contains a character that is not ASCII, always returns true, because `bytes` is not decoded. If it contains `*`, also returns
 * true, because secret values are replaced by `*` only later. First searches for the first three characters in lower and upper
 * case, because this is many times faster than converting all bytes to lower case.
 */
function mayContain(bytes: Buffer, { text }: LineFilter): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches all of ASCII
  if (text === undefined || text.includes('*') || !/^[\x00-\x7f]*$/.test(text)) return true;
  if (!casingsOf(text.slice(0, 3)).some((start) => bytes.includes(start))) return false;
  return bytes.toString('latin1').toLowerCase().includes(text);
}

/** Returns all variants of a lower-case text in which each letter is in lower or upper case, for example `b1` and `B1`. */
function casingsOf(text: string): readonly string[] {
  return [...text].reduce<readonly string[]>(
    (casings, letter) =>
      [...new Set([letter, letter.toUpperCase()])].flatMap((one) => casings.map((start) => start + one)),
    [''],
  );
}

/**
 * Returns when a line arrived. The server records marks while it reads the output. A mark consists of a time and of the offset
 * up to which the server had read the output at that time. A line arrived at the time of the first mark at or after the line's
 * end. A long line is split into blocks, and each block has its own time. A last line without a line break arrived when the
 * output ended. The timestamps of lines with the same mark differ only in their nanoseconds, which preserve the order of the
 * lines.
 */
function seenAt(file: OutputFile, { to, end }: LineRange) {
  const { marks, endedAt } = file;
  const index = firstMarkAt(file, end === 'block' ? Math.ceil(to / longLineBlockBytes) * longLineBlockBytes : to);
  const mark = marks[index];
  const unattended = mark?.unattended ?? false;
  const after = marks[index - 1]?.at ?? null;
  if (mark === undefined || (end === 'output' && endedAt !== null)) {
    return { after, at: endedAt ?? 0, nanoseconds: 0, unattended };
  }
  const begin = marks[index - 1]?.end ?? 0;
  const share = Math.max(0, Math.min(1, (to - begin) / (mark.end - begin)));
  return { after, at: mark.at, nanoseconds: Math.round(share * 999), unattended };
}

/** Index of the first timestamp mark whose end offset is at or after `offset`. */
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

export function formatTimestamp(at: EpochMicroseconds, nanoseconds: number): string {
  const micro = String(at % 1000).padStart(3, '0');
  const nano = String(nanoseconds).padStart(3, '0');
  return new Date(Math.floor(at / 1000)).toISOString().replace('Z', `${micro}${nano}Z`);
}

export function isLevelAtLeast(level: LogLevel | null, least: LogLevel): boolean {
  return level !== null && logLevels.indexOf(level) >= logLevels.indexOf(least);
}
