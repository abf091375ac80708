import { describe, expect, it } from 'vitest';
import { findFirstLineStart, longLineBlockBytes, splitLines } from './line-breaks.ts';

const texts = {
  'short lines': 'one\n\ntwo\nthree\n'.repeat(5_000),
  'one endless line': 'x'.repeat(5 * longLineBlockBytes + 7),
  'characters of several bytes without a break': 'äöü€🦜'.repeat(8_000),
  'bytes that are not UTF-8': Buffer.alloc(100_000, 0x80),
  'lines as long as a block': `${'y'.repeat(longLineBlockBytes - 1)}\n`.repeat(4),
  'lines one byte longer than a block': `${'z'.repeat(longLineBlockBytes)}\n`.repeat(4),
  'long and short lines in turns': `${'ä'.repeat(30_000)}\nshort\n${'b'.repeat(20_000)}\n`.repeat(3),
};

describe.each(Object.entries(texts))('splitLines of %s', (_, text) => {
  const bytes = Buffer.from(text);
  const all = splitLines(bytes, 0);

  it('returns lines of limited length without gaps between them', () => {
    let last = 0;
    for (const { from, to, end } of all) {
      expect(from).toBe(last);
      expect(to - from).toBeLessThan(2 * longLineBlockBytes + 1);
      expect(bytes[to - 1] === 10).toBe(end === 'newline');
      last = to;
    }
    expect(bytes.length - last).toBeLessThan(2 * longLineBlockBytes + 8);
  });

  it('finds the same line boundaries from every offset', () => {
    const starts = new Set(all.map(({ from }) => from).concat(all.at(-1)?.to ?? 0));
    for (let from = 1; from < bytes.length - 3 * longLineBlockBytes; from += 4_999) {
      const window = bytes.subarray(from, from + 3 * longLineBlockBytes);
      const start = findFirstLineStart(window, from);
      expect(start).not.toBeNull();
      expect(starts.has(start ?? -1)).toBe(true);
      for (const line of splitLines(window.subarray((start ?? 0) - from), start ?? 0)) {
        expect(starts.has(line.from)).toBe(true);
        expect(starts.has(line.to) || line.to === bytes.length).toBe(true);
      }
    }
  });
});

it('splitLines never splits a line inside a character of several bytes', () => {
  const bytes = Buffer.from(texts['characters of several bytes without a break']);
  const parts = splitLines(bytes, 0).map(({ from, to }) => bytes.toString('utf8', from, to));
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.join('')).not.toContain('\ufffd');
});
