import { appendFileSync, readFileSync } from 'node:fs';
import type { EpochMicroseconds, OutputTimestamp } from '../runtime.ts';
import type { MonotonicClock } from './monotonic-clock.ts';

/** Formats a mark. The line break comes first, so that a truncated mark does not damage the next mark. */
export function formatOutputTimestamp(mark: OutputTimestamp): string {
  return `\n${mark.end} ${mark.at} ${mark.unattended ? 'u' : 'a'}`;
}

export function formatOutputEndTimestamp(at: EpochMicroseconds): string {
  return `\n${at} e`;
}

export function parseOutputEndTimestamp(text: string): EpochMicroseconds | null {
  const [, at] = /^(\d+) e$/m.exec(text) ?? [];
  return at !== undefined && Number.isSafeInteger(Number(at)) ? Number(at) : null;
}

/**
 * Parses the lines of a file with timestamps of output. Each line contains an offset in the output, and the time at which the
 * output before that offset was read. Skips lines that are truncated, lines whose offset or time is not greater than the
 * previous one, and lines with a number that a double cannot represent exactly.
 */
export function parseOutputTimestamps(text: string): readonly OutputTimestamp[] {
  const marks: OutputTimestamp[] = [];
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

function isExact({ end, at }: OutputTimestamp): boolean {
  return Number.isSafeInteger(end) && Number.isSafeInteger(at);
}

/** Appends marks, which give output a timestamp. If `isAdopted`, continues the marks of a previous server process. */
export type OutputTimestampWriter = {
  /** Offset of the last mark: all output before it has a timestamp. */
  readonly end: () => number;
  readonly at: () => EpochMicroseconds;
  readonly markUntil: (end: number) => void;
  /** Continues at this offset without a mark, because the output before the offset was dropped and needs no timestamp. */
  readonly skipTo: (end: number) => void;
  /** Records the time at which the output ended, unless a previous server process has recorded it. */
  readonly markEnd: () => void;
};

export function openOutputTimestampWriter(
  path: string,
  clock: MonotonicClock,
  isAdopted: boolean,
): OutputTimestampWriter {
  const written = isAdopted ? readMarksText(path) : '';
  let { end, at } = parseOutputTimestamps(written).at(-1) ?? { end: 0, at: 0 };
  let endedAt = parseOutputEndTimestamp(written);
  let unattended = isAdopted;
  clock.after(endedAt ?? at);
  const append = (text: string) => appendFileSync(path, text, { mode: 0o600 });
  return {
    end: () => end,
    at: () => at,
    markUntil: (next) => {
      if (next > end) {
        const mark = { end: next, at: clock.next(), unattended };
        append(formatOutputTimestamp(mark));
        ({ end, at } = mark);
      }
      unattended = false;
    },
    skipTo: (next) => {
      end = Math.max(end, next);
    },
    markEnd: () => {
      if (endedAt !== null) return;
      endedAt = clock.next();
      append(formatOutputEndTimestamp(endedAt));
    },
  };
}

function readMarksText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
