import { expect, it } from 'vitest';
import { splitLines } from './log-reader.ts';

const split = (text: string, isLast: boolean) => {
  const { lines, rest } = splitLines(Buffer.from(text), isLast);
  return { lines: lines.map(String), rest: String(rest) };
};

it('keeps a line without a break until it is known to be the last', () => {
  expect(split('a\n\nb', false)).toEqual({ lines: ['a\n', '\n'], rest: 'b' });
  expect(split('a\n\nb', true)).toEqual({ lines: ['a\n', '\n', 'b'], rest: '' });
  expect(split('', true)).toEqual({ lines: [], rest: '' });
});

it('hands out an endless line in parts that add up to it', () => {
  const endless = 'x'.repeat(40_000);
  const { lines, rest } = split(endless, false);
  expect(lines.map((line) => line.length)).toEqual([16_384, 16_384]);
  expect(lines.join('') + rest).toBe(endless);
});
