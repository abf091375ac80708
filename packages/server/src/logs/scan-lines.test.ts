import { expect, it } from 'vitest';
import { isLevelAtLeast, parseLevel } from './scan-lines.ts';

it.each([
  ['2026-11-20 12:00:00.123 | INFO     | bot:run:12 | NONE - hello', 'INFO'],
  ['2026-11-20 12:00:00.123 | CRITICAL | bot:run:12 | NONE - hello', 'CRITICAL'],
  ['\u001b[32m2026-11-20 12:00:00.123\u001b[0m | \u001b[1mWARNING \u001b[0m | bot:run:12 - hello', 'WARNING'],
  ['INFO: Started server process', null],
  ['2026-11-20 12:00:00.123 | LOUD     | bot:run:12 - hello', null],
  ['', null],
])('parseLevel returns the level of %j', (text, level) => {
  expect(parseLevel(text)).toBe(level);
});

it('isLevelAtLeast compares levels, and is false for a line without a level', () => {
  expect(isLevelAtLeast('ERROR', 'WARNING')).toBe(true);
  expect(isLevelAtLeast('INFO', 'WARNING')).toBe(false);
  expect(isLevelAtLeast(null, 'TRACE')).toBe(false);
});
