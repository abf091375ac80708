import { expect, it } from 'vitest';
import { formatMark, markCovering, parseMarks } from './output-marks.ts';

const MARKS = [
  { end: 10, at: new Date(1000), unattended: false },
  { end: 30, at: new Date(2000), unattended: true },
];

it('reads back what it wrote, also after a mark that a kill cut short', () => {
  expect(parseMarks(MARKS.map(formatMark).join(''))).toEqual(MARKS);
  const [first, second] = MARKS.map(formatMark);
  expect(parseMarks(`${first}\n29 19${second}`)).toEqual(MARKS);
  expect(parseMarks(`${first}${second}\n40 1`)).toEqual(MARKS);
});

it.each([
  [1, 10],
  [10, 10],
  [11, 30],
  [30, 30],
  [31, null],
])('finds the first look that covers offset %i', (offset, end) => {
  expect(markCovering(MARKS, offset)?.end ?? null).toBe(end);
});
