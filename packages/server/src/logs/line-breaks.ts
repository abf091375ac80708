/** A longer line is handed out in parts, so that a bot that never breaks a line cannot fill the server. */
export const blockBytes = 16 * 1024;
const newline = 10;

/**
 * A line, or a part of a long one: its first byte and the one after its last, the break included. What ends it: a newline,
 * a full block, the end of all output, or a gap.
 */
export type LineRange = {
  readonly from: number;
  readonly to: number;
  readonly end: 'newline' | 'block' | 'output' | 'gap';
};

/**
 * The rules that say where lines end can be judged from anywhere in an output, upwards and downwards alike: a line ends
 * after a newline, and at each multiple of 16 KiB before which 16 KiB are without one (moved off the middle of a character).
 * So a line is shorter than 32 KiB, and each has one place whoever reads it from where.
 */

/** Lines of `bytes`, which begin with a line at the offset `from`. What is after the last one may go on. Pure. */
export function splitLines(bytes: Buffer, from: number): readonly LineRange[] {
  const lines: LineRange[] = [];
  let start = 0;
  for (;;) {
    const found = bytes.indexOf(newline, start);
    const end = found === -1 ? bytes.length : found;
    const block = Math.ceil((from + start) / blockBytes) * blockBytes + blockBytes - from;
    const isForced = block <= end && block <= bytes.length;
    if (!isForced && found === -1) return lines;
    const to = isForced ? wholeCharacters(bytes, block) : found + 1;
    lines.push({ from: from + start, to: from + to, end: isForced ? 'block' : 'newline' });
    start = to;
  }
}

/** Where in `bytes` a line begins for certain, if it is known of nothing before them. Null when they are too few. Pure. */
export function firstLineStart(bytes: Buffer, from: number): number | null {
  const found = bytes.indexOf(newline);
  const block = Math.ceil(from / blockBytes) * blockBytes + blockBytes - from;
  if (found !== -1 && found < block) return from + found + 1;
  return block <= bytes.length ? from + wholeCharacters(bytes, block) : null;
}

/** Where the last character before `to` ends that is whole: its first byte says how many it has (RFC 3629 3). */
function wholeCharacters(bytes: Buffer, to: number): number {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[to - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? to - back : to;
  }
  return to;
}
