import { expect, it } from 'vitest';
import {
  formatOutputEndMark,
  formatOutputTimestampMark,
  parseOutputEndMark,
  parseOutputTimestampMarks,
} from './output-marks.ts';

const expectedMarks = [
  { end: 10, at: 1_000_000, unattended: false },
  { end: 30, at: 2_000_000, unattended: true },
];

it('parseOutputTimestampMarks parses the marks that formatOutputTimestampMark returns, and skips a mark that was only partly written', () => {
  expect(parseOutputTimestampMarks(expectedMarks.map(formatOutputTimestampMark).join(''))).toEqual(expectedMarks);
  const [first, second] = expectedMarks.map(formatOutputTimestampMark);
  expect(parseOutputTimestampMarks(`${first}\n29 19${second}`)).toEqual(expectedMarks);
  expect(parseOutputTimestampMarks(`${first}${second}\n40 1`)).toEqual(expectedMarks);
});

it('parseOutputTimestampMarks skips marks that do not increase, so that binary search by time or offset works', () => {
  const damaged = [
    ...expectedMarks,
    { end: 25, at: 3_000_000, unattended: false },
    { end: 40, at: 5, unattended: false },
  ];
  expect(parseOutputTimestampMarks(damaged.map(formatOutputTimestampMark).join(''))).toEqual(expectedMarks);
});

it('parseOutputTimestampMarks skips marks whose numbers a double cannot represent exactly', () => {
  const text = expectedMarks.map(formatOutputTimestampMark).join('');
  expect(parseOutputTimestampMarks(`${text}\n9223372036854775808 3000000 a\n40 ${'9'.repeat(400)} a`)).toEqual(
    expectedMarks,
  );
  expect(parseOutputEndMark(`${text}\n${'9'.repeat(400)} e`)).toBeNull();
});

it('parseOutputEndMark returns the time at which the output ended, or null if no end is recorded', () => {
  const text = expectedMarks.map(formatOutputTimestampMark).join('');
  expect(parseOutputEndMark(text)).toBeNull();
  expect(parseOutputEndMark(text + formatOutputEndMark(2_000_001))).toBe(2_000_001);
  expect(parseOutputTimestampMarks(text + formatOutputEndMark(2_000_001))).toEqual(expectedMarks);
});
