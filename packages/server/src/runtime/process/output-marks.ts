import { readFileSync } from 'node:fs';

/** Output up to the offset `end` had been seen at `at`; `unattended`: it came while no server ran. */
export type OutputMark = { readonly end: number; readonly at: Date; readonly unattended: boolean };

/** One line per mark, appended. Begins with the line's break, so that a mark that a kill cut short spoils no other. */
export function formatMark(mark: OutputMark): string {
  return `\n${mark.end} ${mark.at.getTime()} ${mark.unattended ? 'u' : 'a'}`;
}

/** Marks in order. A line that a kill or a full disk cut short is left out. */
export function parseMarks(text: string): readonly OutputMark[] {
  const marks: OutputMark[] = [];
  for (const line of text.split('\n')) {
    const [, end, at, flag] = /^(\d+) (\d+) ([au])$/.exec(line) ?? [];
    if (end === undefined || at === undefined) continue;
    marks.push({ end: Number(end), at: new Date(Number(at)), unattended: flag === 'u' });
  }
  return marks;
}

export function readMarks(path: string): readonly OutputMark[] {
  try {
    return parseMarks(readFileSync(path, 'latin1'));
  } catch {
    return [];
  }
}

/** The first mark that covers `offset`; null when no one has looked that far. */
export function markCovering(marks: readonly OutputMark[], offset: number): OutputMark | null {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.end ?? 0) >= offset) high = middle;
    else low = middle + 1;
  }
  return marks[low] ?? null;
}
