import { expect, test } from 'vitest';
import { extractLogMessage, stripControlCharacters } from './log-text.ts';

test.each([
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]0;title\u0007text', 'text'],
  ['\u001b]8;;https://example.com\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['tab\tand\rreturn\u0000', 'tab\tandreturn'],
])('stripControlCharacters removes terminal escape sequences and control characters from %j', (line, text) => {
  expect(stripControlCharacters(line)).toBe(text);
});

test('extractLogMessage removes the time, level and session from a line in the format of Pipecat', () => {
  const line = '2026-11-23 12:00:00.123 | \u001b[1mINFO\u001b[0m     | bot:run:12 | NONE - Hello';
  expect(extractLogMessage(line)).toBe('Hello (bot:run:12)');
  expect(extractLogMessage('no format')).toBe('no format');
});
