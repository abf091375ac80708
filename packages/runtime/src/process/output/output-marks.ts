import { readFileSync } from 'node:fs';
import type { OutputMark, Timestamp } from '../../runtime.ts';

/** One line per mark, appended. Begins with the line's break, so that a mark that a kill cut short spoils no other. */
export function formatMark(mark: OutputMark): string {
  return `\n${mark.end} ${mark.at} ${mark.unattended ? 'u' : 'a'}`;
}

/** Written once, after the last mark. */
export function formatEnd(at: Timestamp): string {
  return `\n${at} e`;
}

export function parseEnd(text: string): Timestamp | null {
  const [, at] = /^(\d+) e$/m.exec(text) ?? [];
  return at === undefined ? null : Number(at);
}

/** Marks in order. A line that a kill or a full disk cut short is left out, as far as that can be told. */
export function parseMarks(text: string): readonly OutputMark[] {
  const marks: OutputMark[] = [];
  let last = { end: 0, at: 0 };
  for (const line of text.split('\n')) {
    const [, end, at, flag] = /^(\d+) (\d+) ([au])$/.exec(line) ?? [];
    if (end === undefined || at === undefined) continue;
    const mark = { end: Number(end), at: Number(at), unattended: flag === 'u' };
    if (mark.end <= last.end || mark.at <= last.at) continue;
    marks.push(mark);
    last = mark;
  }
  return marks;
}

/** What is written of the marks; nothing when there are none. */
export function readMarksText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
