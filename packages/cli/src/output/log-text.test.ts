import { expect, test } from 'vitest';
import { escapeLogLine } from './log-text.ts';

test.each([
  ['plain text\r', 'plain text'],
  ['a\tb', 'a\tb'],
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]0;title\u0007x', 'x'],
  ['\u001b[2J\u001b[Hcleared', 'cleared'],
  ['bell \u0007 and back \b', 'bell \\x07 and back \\x08'],
  ['half \u001b', 'half \\x1b'],
])('for the line %j, escapeLogLine returns %j if colors are off', (line, shown) => {
  expect(escapeLogLine(line, false)).toBe(shown);
});

test.each([
  ['\u001b[1;31mred\u001b[0m end', '\u001b[1;31mred\u001b[0m end\u001b[0m'],
  ['\u001b[38;2;1;2;3mmany', '\u001b[38;2;1;2;3mmany\u001b[0m'],
  ['\u001b[2J\u001b[31mx\u001b]8;;http://a\u0007y', '\u001b[31mxy\u001b[0m'],
  ['\u001b]0;\u001b[31mtitle\u0007', ';\u001b[31mtitle\\x07\u001b[0m'],
  ['none', 'none'],
])('escapeLogLine removes all escape sequences except colors from %j if colors are on', (line, shown) => {
  expect(escapeLogLine(line, true)).toBe(shown);
});
