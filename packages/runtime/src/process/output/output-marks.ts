import { readFileSync } from 'node:fs';
import type { OutputMark, Timestamp } from '../../runtime.ts';

/** One appended line per mark. The line break comes first, so that a truncated mark does not damage the next one. */
export function formatMark(mark: OutputMark): string {
  return `\n${mark.end} ${mark.at} ${mark.unattended ? 'u' : 'a'}`;
}

/** Written once, after the last mark. */
export function formatEnd(at: Timestamp): string {
  return `\n${at} e`;
}

export function parseEnd(text: string): Timestamp | null {
  const [, at] = /^(\d+) e$/m.exec(text) ?? [];
  return at !== undefined && Number.isSafeInteger(Number(at)) ? Number(at) : null;
}

/**
 * Marks in order. Skips lines that a kill or a full disk truncated, as far as they are recognizable, and numbers that are not
 * exact, which only a bot or an earlier version can have written.
 */
export function parseMarks(text: string): readonly OutputMark[] {
  const marks: OutputMark[] = [];
  let last = { end: 0, at: 0 };
  for (const line of text.split('\n')) {
    const [, end, at, flag] = /^(\d+) (\d+) ([au])$/.exec(line) ?? [];
    if (end === undefined || at === undefined) continue;
    const mark = { end: Number(end), at: Number(at), unattended: flag === 'u' };
    if (mark.end <= last.end || mark.at <= last.at || !isExact(mark)) continue;
    marks.push(mark);
    last = mark;
  }
  return marks;
}

function isExact({ end, at }: OutputMark): boolean {
  return Number.isSafeInteger(end) && Number.isSafeInteger(at);
}

/** Content of the file of marks; empty if there is none. */
export function readMarksText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
