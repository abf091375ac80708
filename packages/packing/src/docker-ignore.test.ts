import { expect, test } from 'vitest';
import { readDockerIgnore } from './docker-ignore.ts';

/** Cases from Docker's documentation and from the tests of its pattern matcher. */
test.each([
  ['*.md', 'README.md', true],
  ['*.md', 'docs/README.md', false],
  ['**/*.md', 'docs/README.md', true],
  ['**/*.md', 'README.md', true],
  ['/docs', 'docs/a/b.txt', true],
  ['docs/', 'docs/a/b.txt', true],
  ['docs/**', 'docs/a', true],
  ['**', 'a/b/c', true],
  ['a/**/z', 'a/z', true],
  ['a/**/z', 'a/b/c/z', true],
  ['*/temp*', 'one/temporary.txt', true],
  ['*/temp*', 'one/two/temporary.txt', false],
  ['temp?', 'tempa', true],
  ['temp?', 'temp', false],
  ['file[0-9].txt', 'file7.txt', true],
  ['file[^0-9].txt', 'file7.txt', false],
  ['a[.]b', 'a.b', true],
  ['a.b', 'axb', false],
  ['\\*', '*', true],
  ['\\*', 'a', false],
  ['./a/../b', 'b', true],
  ['# a comment', '# a comment', false],
  ['.', 'a', false],
  ['x(1).txt', 'x(1).txt', true],
  ['ä?', 'ä😀', true],
])('the .dockerignore pattern %s excludes the path %s: %s', (pattern, path, isExcluded) => {
  expect(readDockerIgnore(`${pattern}\n`).excludes(path)).toBe(isExcluded);
});

test('readDockerIgnore lets the last matching pattern decide, also for paths in an excluded directory', () => {
  const rules = readDockerIgnore('# all but two\r\n*\r\n!src\r\n!data/keep.txt\r\nsrc/*.test.js\r\n');
  expect(rules.hasNegation).toBe(true);
  const kept = ['src/bot.js', 'data/keep.txt'];
  const out = ['README.md', 'src/bot.test.js', 'data', 'data/other.txt'];
  expect(kept.filter(rules.excludes)).toEqual([]);
  expect(out.filter(rules.excludes)).toEqual(out);
});

test.each(['a[', 'b\\', 'c[z-a]'])('readDockerIgnore rejects the invalid pattern %s and names its line', (line) => {
  expect(() => readDockerIgnore(`ok\n${line}\n`)).toThrow(`line 2 is not a valid pattern: ${line}`);
});
