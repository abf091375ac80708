import { expect, it } from 'vitest';
import { isAtLeast, levelOf } from './scan-lines.ts';

it.each([
  ['2026-11-20 12:00:00.123 | INFO     | bot:run:12 | NONE - hello', 'INFO'],
  ['2026-11-20 12:00:00.123 | CRITICAL | bot:run:12 | NONE - hello', 'CRITICAL'],
  ['\u001b[32m2026-11-20 12:00:00.123\u001b[0m | \u001b[1mWARNING \u001b[0m | bot:run:12 - hello', 'WARNING'],
  ['INFO: Started server process', null],
  ['2026-11-20 12:00:00.123 | LOUD     | bot:run:12 - hello', null],
  ['', null],
])('reads the level of %j', (text, level) => {
  expect(levelOf(text)).toBe(level);
});

it('compares levels; a line without a level matches none', () => {
  expect(isAtLeast('ERROR', 'WARNING')).toBe(true);
  expect(isAtLeast('INFO', 'WARNING')).toBe(false);
  expect(isAtLeast(null, 'TRACE')).toBe(false);
});
