import { type EntryHead, parseEntryHead } from './entry-head.ts';
import type { LineRange } from './line-breaks.ts';

/** The log entry that a line belongs to. `isContinuation` is false for the first line of an entry. */
export type LineEntry = EntryHead & { readonly isContinuation: boolean };

/** Returns the entry of a line, or null if the line belongs to none, such as the output of `print`. */
export type EntryLookup = (line: LineRange) => LineEntry | null;

const tracebackHead = 'Traceback (most recent call last):';
/** Frames of a traceback are indented. Loguru marks the frame that caught the exception. */
const indented = /^(?:\s+\S|> File ")/;
/** What Python prints between the tracebacks of chained exceptions. */
const chained = /^(?:During handling of the above exception|The above exception was the direct cause)/;

/**
 * Finds the entries in lines, which are in ascending or descending order. An entry starts with a line in a known format, or with
 * a traceback that follows no entry. The traceback and other indented lines after it continue it.
 */
export function createEntryLookup(bytes: Buffer, from: number, lines: readonly LineRange[]): EntryLookup {
  let entries: ReadonlyMap<number, LineEntry> | null = null;
  return (line) => {
    entries ??= findEntries(bytes, from, lines);
    return entries.get(line.from) ?? null;
  };
}

export function isEntryHead(bytes: Buffer, from: number, line: LineRange): boolean {
  return parseEntryHead(textOf(bytes, from, line)) !== null;
}

function textOf(bytes: Buffer, from: number, line: LineRange): string {
  return bytes.toString('latin1', line.from - from, line.to - from).trimEnd();
}

function findEntries(bytes: Buffer, from: number, unordered: readonly LineRange[]): ReadonlyMap<number, LineEntry> {
  const lines = unordered.toSorted((a, b) => a.from - b.from);
  const entries = new Map<number, LineEntry>();
  let head: EntryHead | null = null;
  let place: Place = 'message';
  for (const [index, line] of lines.entries()) {
    const previous = lines[index - 1];
    // The rest of a line that is too long for one range.
    const isCut = previous?.end === 'block' && previous.to === line.from;
    const text = isCut ? '' : textOf(bytes, from, line);
    const found = isCut ? null : parseEntryHead(text);
    if (found !== null || (head === null && text === tracebackHead)) {
      head = found ?? { level: 'ERROR', time: null };
      place = found === null ? 'frames' : 'message';
      entries.set(line.from, { ...head, isContinuation: false });
      continue;
    }
    if (head === null) continue;
    if (!isCut) {
      const next = lines[index + 1];
      const isBeforeIndented = next !== undefined && indented.test(textOf(bytes, from, next));
      const placeOfLine = continueEntry(place, text, isBeforeIndented);
      head = placeOfLine === null ? null : head;
      place = placeOfLine ?? 'message';
    }
    if (head !== null) entries.set(line.from, { ...head, isContinuation: true });
  }
  return entries;
}

/** Where in an entry a line is: in its message, between the lines of a traceback, or at or after the exception of a traceback. */
type Place = 'message' | 'frames' | 'exception';

/** Returns the place of a line after another line of an entry, or null if the line does not belong to the entry. */
function continueEntry(place: Place, text: string, isBeforeIndented: boolean): Place | null {
  if (text === tracebackHead) return 'frames';
  if (indented.test(text)) return place;
  if (place === 'message') return null;
  if (text === '' || chained.test(text)) return place;
  if (place === 'frames') return 'exception';
  // The message of an exception can have several lines, such as the fields and problems that pydantic lists.
  return isBeforeIndented ? 'exception' : null;
}
