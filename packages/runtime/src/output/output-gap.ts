import { closeSync, openSync, readSync } from 'node:fs';
import type { OutputOffsetRange } from '../runtime.ts';

/** Bytes to search for a line break at each end of the range to drop. Without a line break, the range splits a line. */
const lineBytes = 16 * 1024;
const newline = 10;

/**
 * Returns the range of an output file to drop, in whole lines if possible. Keeps a quarter of the limit at the beginning of
 * the output, and half of the limit at its end. If a range was dropped before (`gap`), extends that range. Returns null if the
 * range would add at most a quarter of the limit to the dropped output, which is not worthwhile.
 */
export function selectOutputToDrop(output: {
  readonly path: string;
  readonly base: number;
  readonly size: number;
  readonly gap: OutputOffsetRange | null;
  readonly limitBytes: number;
}): OutputOffsetRange | null {
  const { path, base, size, limitBytes } = output;
  const known = output.gap !== null && output.gap.from >= base ? output.gap : null;
  const head = base + Math.floor(limitBytes / 4);
  const end = base + size;
  if (end - (known?.to ?? head) <= limitBytes * 0.75) return null;
  const file = openSync(path, 'r');
  try {
    const read = (offset: number) => {
      const bytes = Buffer.alloc(lineBytes);
      return bytes.subarray(0, readSync(file, bytes, 0, lineBytes, offset - base));
    };
    const tail = end - Math.floor(limitBytes / 2);
    const after = read(tail).indexOf(newline);
    const before = Math.max(base, head - lineBytes);
    const last = read(before)
      .subarray(0, head - before)
      .lastIndexOf(newline);
    return {
      from: known?.from ?? (last === -1 ? head : before + last + 1),
      to: after === -1 ? tail : tail + after + 1,
    };
  } finally {
    closeSync(file);
  }
}
