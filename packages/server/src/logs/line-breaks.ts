/** A longer line is returned in blocks, so that a bot that never writes a line break cannot exhaust the server's memory. */
export const blockBytes = 16 * 1024;
const newline = 10;

/**
 * A line, or a block of a long one: `from` is its first byte, `to` the byte after its line break. `end` says what ends it: a
 * newline, a full block, the end of all output, or a gap.
 */
export type LineRange = {
  readonly from: number;
  readonly to: number;
  readonly end: 'newline' | 'block' | 'output' | 'gap';
};

/**
 * Splits `bytes`, whose first line starts at the offset `from`. Bytes after the last returned line may belong to a longer one.
 *
 * A line ends after a newline, and at each multiple of 16 KiB that follows 16 KiB without a newline, moved to the start of a
 * character. So a line is shorter than 32 KiB, and its ends are the same for every start and direction of reading.
 */
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

/** The first offset in `bytes` that is certainly the start of a line, whatever precedes them. Null if they are too few. */
export function firstLineStart(bytes: Buffer, from: number): number | null {
  const found = bytes.indexOf(newline);
  const block = Math.ceil(from / blockBytes) * blockBytes + blockBytes - from;
  if (found !== -1 && found < block) return from + found + 1;
  return block <= bytes.length ? from + wholeCharacters(bytes, block) : null;
}

/** The end of the last complete character before `to`. Its first byte contains its length (RFC 3629 3). */
function wholeCharacters(bytes: Buffer, to: number): number {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[to - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? to - back : to;
  }
  return to;
}
