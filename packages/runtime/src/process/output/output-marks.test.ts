import { expect, it } from 'vitest';
import { formatEndMark, formatMark, parseEndMark, parseMarks } from './output-marks.ts';

const expectedMarks = [
  { end: 10, at: 1_000_000, unattended: false },
  { end: 30, at: 2_000_000, unattended: true },
];

it('parseMarks parses the marks that formatMark returns, even after an incomplete mark of a killed server', () => {
  expect(parseMarks(expectedMarks.map(formatMark).join(''))).toEqual(expectedMarks);
  const [first, second] = expectedMarks.map(formatMark);
  expect(parseMarks(`${first}\n29 19${second}`)).toEqual(expectedMarks);
  expect(parseMarks(`${first}${second}\n40 1`)).toEqual(expectedMarks);
});

it('parseMarks skips marks that do not increase, so that binary search by time or offset works', () => {
  const damaged = [
    ...expectedMarks,
    { end: 25, at: 3_000_000, unattended: false },
    { end: 40, at: 5, unattended: false },
  ];
  expect(parseMarks(damaged.map(formatMark).join(''))).toEqual(expectedMarks);
});

it('parseMarks skips marks whose numbers a double cannot represent exactly', () => {
  const text = expectedMarks.map(formatMark).join('');
  expect(parseMarks(`${text}\n9223372036854775808 3000000 a\n40 ${'9'.repeat(400)} a`)).toEqual(expectedMarks);
  expect(parseEndMark(`${text}\n${'9'.repeat(400)} e`)).toBeNull();
});

it('parseEndMark returns the time at which the output ended, or null if no end is recorded', () => {
  const text = expectedMarks.map(formatMark).join('');
  expect(parseEndMark(text)).toBeNull();
  expect(parseEndMark(text + formatEndMark(2_000_001))).toBe(2_000_001);
  expect(parseMarks(text + formatEndMark(2_000_001))).toEqual(expectedMarks);
});
