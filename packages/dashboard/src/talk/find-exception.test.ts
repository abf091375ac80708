import { expect, it } from 'vitest';
import { findException } from './find-exception.ts';

it.each([
  [['Traceback (most recent call last):', '  File "bot.py", line 3', 'ValueError: no key'], 'ValueError: no key'],
  [
    ['KeyError: "first"', 'The above exception was the direct cause:', 'pkg.mod.ApiError: second'],
    'pkg.mod.ApiError: second',
  ],
  [['RuntimeError', '2026-11-20 12:00:00 | INFO | done'], 'RuntimeError'],
  [['2026-11-20 12:00:00 | ERROR | ValueError: in a log line', 'Error handling is on'], null],
  [[], null],
])('findException returns the last line of the last traceback of %j', (lines, expected) => {
  expect(findException(lines)).toBe(expected);
});
