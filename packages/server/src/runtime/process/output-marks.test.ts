import { expect, it } from 'vitest';
import { formatMark, parseMarks } from './output-marks.ts';

const MARKS = [
  { end: 10, at: 1_000_000, unattended: false },
  { end: 30, at: 2_000_000, unattended: true },
];

it('reads back what it wrote, also after a mark that a kill cut short', () => {
  expect(parseMarks(MARKS.map(formatMark).join(''))).toEqual(MARKS);
  const [first, second] = MARKS.map(formatMark);
  expect(parseMarks(`${first}\n29 19${second}`)).toEqual(MARKS);
  expect(parseMarks(`${first}${second}\n40 1`)).toEqual(MARKS);
});

it('leaves out what does not rise, so that a search by time or offset finds its place', () => {
  const damaged = [...MARKS, { end: 25, at: 3_000_000, unattended: false }, { end: 40, at: 5, unattended: false }];
  expect(parseMarks(damaged.map(formatMark).join(''))).toEqual(MARKS);
});
