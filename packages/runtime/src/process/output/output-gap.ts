import { closeSync, openSync, readSync } from 'node:fs';
import type { OffsetRange } from '../../runtime.ts';

/** Number of bytes searched for a line break. In a longer line, a gap begins or ends within the line. */
const LINE_BYTES = 16 * 1024;
const NEWLINE = 10;

/**
 * The part of an output file to drop, or null if the file is within its limit. The first quarter of the limit is kept
 * permanently. The rest may grow to three quarters of the limit and is then cut to the last half of the limit. Gaps
 * begin and end between lines.
 */
export function gapToDrop(output: {
  readonly path: string;
  readonly base: number;
  /** Range in the output file, in bytes. */
  readonly size: number;
  readonly gap: OffsetRange | null;
  readonly limitBytes: number;
}): OffsetRange | null {
  const { path, base, size, limitBytes } = output;
  const known = output.gap !== null && output.gap.from >= base ? output.gap : null;
  const head = base + Math.floor(limitBytes / 4);
  const end = base + size;
  if (end - (known?.to ?? head) <= limitBytes * 0.75) return null;
  const file = openSync(path, 'r');
  try {
    const read = (offset: number) => {
      const bytes = Buffer.alloc(LINE_BYTES);
      return bytes.subarray(0, readSync(file, bytes, 0, LINE_BYTES, offset - base));
    };
    const tail = end - Math.floor(limitBytes / 2);
    const after = read(tail).indexOf(NEWLINE);
    const before = Math.max(base, head - LINE_BYTES);
    const last = read(before)
      .subarray(0, head - before)
      .lastIndexOf(NEWLINE);
    return {
      from: known?.from ?? (last === -1 ? head : before + last + 1),
      to: after === -1 ? tail : tail + after + 1,
    };
  } finally {
    closeSync(file);
  }
}
