import { readFileSync } from 'node:fs';
import type { OutputMark, Timestamp } from '../../runtime.ts';

/**
 * Formats one mark as a line to append. The line break comes first, so that a truncated mark does not damage the next
 * one.
 */
export function formatMark(mark: OutputMark): string {
  return `\n${mark.end} ${mark.at} ${mark.unattended ? 'u' : 'a'}`;
}

/** Formats the time at which the output was complete, to append once after the last mark. */
export function formatEnd(at: Timestamp): string {
  return `\n${at} e`;
}

export function parseEnd(text: string): Timestamp | null {
  const [, at] = /^(\d+) e$/m.exec(text) ?? [];
  return at !== undefined && Number.isSafeInteger(Number(at)) ? Number(at) : null;
}

/**
 * Parses marks in order. Skips lines that a kill or a full disk visibly truncated. Also skips numbers that a double
 * cannot hold exactly, which only a bot or an earlier version can have written.
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

/** The content of the file of marks. Empty if the file is missing. */
export function readMarksText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
