import { expect, it } from 'vitest';
import { parseEntryHead } from './entry-head.ts';

it.each([
  ['2026-11-20 12:00:00.123 | INFO     | bot:run:12 | NONE - hello', 'INFO', '12:00:00.123', null],
  ['2026-11-20 12:00:00.123 | CRITICAL | bot:run:12 | NONE - hello', 'CRITICAL', '12:00:00.123', null],
  [
    '\u001b[32m2026-11-20 12:00:00.123\u001b[0m | \u001b[1mWARNING \u001b[0m | bot:run:12 - hello',
    'WARNING',
    '12:00:00.123',
    null,
  ],
  ['2026-11-20 12:00:00.123 | LOUD     | bot:run:12 - hello', null, '12:00:00.123', null],
  ['2026-11-20 12:00:00,123 - my.module - ERROR - failed', 'ERROR', '12:00:00.123', null],
  ['2026-11-20 12:00:00,123 ERROR my.module failed', 'ERROR', '12:00:00.123', null],
  ['2026-11-20 12:00:00,123 my.module ERROR failed', 'ERROR', '12:00:00.123', null],
  ['[2026-11-20 12:00:00,123] WARNING in app: slow', 'WARNING', '12:00:00.123', null],
  ['[2026-11-20 12:00:00 +0000] [17] [INFO] Booting worker', 'INFO', null, null],
  ['WARNING 2026-11-20 12:00:00,123 my.module slow', 'WARNING', '12:00:00.123', null],
  ['ERROR:my.module:failed', 'ERROR', null, null],
  ['INFO:     Started server process', 'INFO', null, null],
  ['[ERROR] failed', 'ERROR', null, null],
  ['2026-11-20 12:00:00 [warning  ] slow [bot]', 'WARNING', null, null],
  ['2026-11-20T12:00:00.123Z info: ready', 'INFO', '12:00:00.123', 0],
  ['2026-11-20T12:00:00.123456789+01:00 hello', null, '12:00:00.123456789', 60],
  ['2026-11-20T12:00:00.123456789Z stderr F the last ERROR', null, '12:00:00.123456789', 0],
  ['2026-11-20T12:00:00.123456789Z stdout F WARN slow', 'WARNING', '12:00:00.123456789', 0],
  ['2026/11/20 12:00:00.123456 listening', null, '12:00:00.123456', null],
  ['{"level":50,"time":1795176000123,"msg":"failed"}', 'ERROR', '12:00:00.123', 0],
  ['{"event":"slow","level":"warning","timestamp":"2026-11-20T12:00:00.123456Z"}', 'WARNING', '12:00:00.123456', 0],
  ['{"log":"hello\\n","stream":"stdout","time":"2026-11-20T12:00:00.123456789Z"}', null, '12:00:00.123456789', 0],
  ['{"level":"fatal","ts":1795176000.5,"msg":"failed"}', 'CRITICAL', '12:00:00.5', 0],
  [
    '{"text":"x","record":{"level":{"name":"DEBUG","no":10},"time":{"timestamp":1795176000.25}}}',
    'DEBUG',
    '12:00:00.25',
    0,
  ],
])('parseEntryHead parses the level and the time of %j', (line, level, clock, offsetMinutes) => {
  const [, seconds = '', fraction = ''] = /^([\d:]+)\.(\d+)$/.exec(clock ?? '') ?? [];
  const nanoseconds = Number(fraction.padEnd(9, '0'));
  const at = Date.parse(`2026-11-20T${seconds}Z`) * 1000 + Math.floor(nanoseconds / 1000);
  const time = clock === null ? null : { at, nanoseconds: nanoseconds % 1000, offsetMinutes };
  expect(parseEntryHead(line)).toEqual({ level, time });
});

it.each([
  '',
  'hello',
  '  File "bot.py", line 3',
  'ERRORS: 3',
  'an ERROR: no',
  '{"a":1}',
  '{broken',
  '12:00:00 hello',
  '[1, 2]',
])('parseEntryHead returns null for the line %j', (line) => {
  expect(parseEntryHead(line)).toBeNull();
});
