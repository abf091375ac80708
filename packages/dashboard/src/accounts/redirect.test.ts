import { expect, test } from 'vitest';
import { sanitizeRedirect } from './redirect.ts';

test.each([
  ['/device?code=ABCD-EFGH', '/device?code=ABCD-EFGH'],
  ['/agents#logs', '/agents#logs'],
  ['https://evil.example.com/', '/'],
  ['//evil.example.com/', '/'],
  ['/\\evil.example.com/', '/'],
  ['javascript:alert(1)', '/'],
  [undefined, '/'],
])('sanitizeRedirect(%j) returns %j', (path, expected) => {
  expect(sanitizeRedirect(path)).toBe(expected);
});
