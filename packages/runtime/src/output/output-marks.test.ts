import { expect, it } from 'vitest';
import {
  formatOutputEndTimestamp,
  formatOutputTimestamp,
  parseOutputEndTimestamp,
  parseOutputTimestamps,
} from './output-marks.ts';

const expectedMarks = [
  { end: 10, at: 1_000_000, unattended: false },
  { end: 30, at: 2_000_000, unattended: true },
];

it('parseOutputTimestamps parses the marks that formatOutputTimestamp returns, and skips a mark that was only partly written', () => {
  expect(parseOutputTimestamps(expectedMarks.map(formatOutputTimestamp).join(''))).toEqual(expectedMarks);
  const [first, second] = expectedMarks.map(formatOutputTimestamp);
  expect(parseOutputTimestamps(`${first}\n29 19${second}`)).toEqual(expectedMarks);
  expect(parseOutputTimestamps(`${first}${second}\n40 1`)).toEqual(expectedMarks);
});

it('parseOutputTimestamps skips marks that do not increase, so that binary search by time or offset works', () => {
  const damaged = [
    ...expectedMarks,
    { end: 25, at: 3_000_000, unattended: false },
    { end: 40, at: 5, unattended: false },
  ];
  expect(parseOutputTimestamps(damaged.map(formatOutputTimestamp).join(''))).toEqual(expectedMarks);
});

it('parseOutputTimestamps skips a line whose offset or time is above Number.MAX_SAFE_INTEGER', () => {
  const text = expectedMarks.map(formatOutputTimestamp).join('');
  expect(parseOutputTimestamps(`${text}\n9223372036854775808 3000000 a\n40 ${'9'.repeat(400)} a`)).toEqual(
    expectedMarks,
  );
  expect(parseOutputEndTimestamp(`${text}\n${'9'.repeat(400)} e`)).toBeNull();
});

it('parseOutputEndTimestamp returns the time at which the output ended, or null if no end is recorded', () => {
  const text = expectedMarks.map(formatOutputTimestamp).join('');
  expect(parseOutputEndTimestamp(text)).toBeNull();
  expect(parseOutputEndTimestamp(text + formatOutputEndTimestamp(2_000_001))).toBe(2_000_001);
  expect(parseOutputTimestamps(text + formatOutputEndTimestamp(2_000_001))).toEqual(expectedMarks);
});
