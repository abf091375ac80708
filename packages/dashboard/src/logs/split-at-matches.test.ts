import { expect, it } from 'vitest';
import { splitAtMatches } from './split-at-matches.ts';

it.each([
  ['the cup broke', '', ['the cup broke']],
  ['Tea, tea', 'tea', ['', 'Tea', ', ', 'tea', '']],
  ['cost (1.5 $)', '(1.5', ['cost ', '(1.5', ' $)']],
  ['a\\b [c]', '\\b [c]', ['a', '\\b [c]', '']],
  ['no match', 'x', ['no match']],
])('splitAtMatches(%j, %j) returns %j', (text, searched, parts) => {
  expect(splitAtMatches(text, searched)).toEqual(parts);
});
