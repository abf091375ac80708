import { expect, it } from 'vitest';
import { parseByteRange } from './byte-range.ts';

it.each([
  [undefined, 'all'],
  ['bytes=0-', { from: 0, to: 100 }],
  ['bytes=10-19', { from: 10, to: 20 }],
  ['bytes=90-200', { from: 90, to: 100 }],
  ['bytes=-7', { from: 93, to: 100 }],
  ['bytes=-700', { from: 0, to: 100 }],
  ['bytes=99-99', { from: 99, to: 100 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', 'all'],
  ['bytes=-', 'all'],
  ['bytes=0-1,5-6', 'all'],
  ['lines=0-1', 'all'],
  ['bytes=99999999999999999999-', 'all'],
])('parseByteRange parses %s of 100 bytes', (header, expected) => {
  expect(parseByteRange(header, 100)).toEqual(expected);
});
