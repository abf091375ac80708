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
  return at === undefined ? null : Number(at);
}

/** Marks in order. Skips lines that a kill or a full disk truncated, as far as they are recognizable. */
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

/** Content of the file of marks; empty if there is none. */
export function readMarksText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
