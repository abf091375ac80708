import { expect, it } from 'vitest';
import { formatEnd, formatMark, parseEnd, parseMarks } from './output-marks.ts';

const MARKS = [
  { end: 10, at: 1_000_000, unattended: false },
  { end: 30, at: 2_000_000, unattended: true },
];

it('parses formatted marks, even after a mark that a kill truncated', () => {
  expect(parseMarks(MARKS.map(formatMark).join(''))).toEqual(MARKS);
  const [first, second] = MARKS.map(formatMark);
  expect(parseMarks(`${first}\n29 19${second}`)).toEqual(MARKS);
  expect(parseMarks(`${first}${second}\n40 1`)).toEqual(MARKS);
});

it('skips marks that do not increase, so that binary search by time or offset works', () => {
  const damaged = [...MARKS, { end: 25, at: 3_000_000, unattended: false }, { end: 40, at: 5, unattended: false }];
  expect(parseMarks(damaged.map(formatMark).join(''))).toEqual(MARKS);
});

it('skips numbers that a double cannot hold exactly', () => {
  const text = MARKS.map(formatMark).join('');
  expect(parseMarks(`${text}\n9223372036854775808 3000000 a\n40 ${'9'.repeat(400)} a`)).toEqual(MARKS);
  expect(parseEnd(`${text}\n${'9'.repeat(400)} e`)).toBeNull();
});

it('parses the end of the output, if it is recorded', () => {
  const text = MARKS.map(formatMark).join('');
  expect(parseEnd(text)).toBeNull();
  expect(parseEnd(text + formatEnd(2_000_001))).toBe(2_000_001);
  expect(parseMarks(text + formatEnd(2_000_001))).toEqual(MARKS);
});
