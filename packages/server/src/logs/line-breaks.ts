/** Size of a block in bytes. Longer lines are split, so that a bot without line breaks cannot exhaust the memory. */
export const longLineBlockBytes = 16 * 1024;
const newline = 10;

/**
 * A line, or one block of a long line. `from` is the offset of its first byte, `to` the offset after its line break. `end` names
 * what ends it: a newline, a full block, the end of the output, or a gap.
 */
export type LineRange = {
  readonly from: number;
  readonly to: number;
  readonly end: 'newline' | 'block' | 'output' | 'gap';
};

/**
 * Splits `bytes` into complete lines. `from` is the offset of `bytes` in the output. A line must start there. A line ends after
 * its newline.
 *
 * A long line is cut at the second multiple of 16 KiB (as offset in the output) at or after its start, so each piece is between
 * 16 and 32 KiB long. A cut that would split a UTF-8 character is moved up to 3 bytes backward. The cuts do not depend on where
 * reading starts, so a reader that starts near the end of the output finds the same lines.
 */
export function splitLines(bytes: Buffer, from: number): readonly LineRange[] {
  const lines: LineRange[] = [];
  let start = 0;
  for (;;) {
    const found = bytes.indexOf(newline, start);
    const end = found === -1 ? bytes.length : found;
    const block = Math.ceil((from + start) / longLineBlockBytes) * longLineBlockBytes + longLineBlockBytes - from;
    const isForced = block <= end && block <= bytes.length;
    if (!isForced && found === -1) return lines;
    const to = isForced ? wholeCharacters(bytes, block) : found + 1;
    lines.push({ from: from + start, to: from + to, end: isForced ? 'block' : 'newline' });
    start = to;
  }
}

/** The first offset at which a line certainly starts, whatever precedes `bytes`. Null if `bytes` is too short. */
export function findFirstLineStart(bytes: Buffer, from: number): number | null {
  const found = bytes.indexOf(newline);
  const block = Math.ceil(from / longLineBlockBytes) * longLineBlockBytes + longLineBlockBytes - from;
  if (found !== -1 && found < block) return from + found + 1;
  return block <= bytes.length ? from + wholeCharacters(bytes, block) : null;
}

/** Returns the end of the last complete character before `to` (RFC 3629, section 3). */
function wholeCharacters(bytes: Buffer, to: number): number {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[to - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? to - back : to;
  }
  return to;
}
