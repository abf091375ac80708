import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Patterns of a test that is left out without a reason in the report. */
const silent: readonly (readonly [RegExp, string])[] = [
  [
    /\.(?:skipIf|runIf|todo)\b/,
    'has no reason: use testUnless or describeUnless of packages/runtime/test/skip-with-reason.ts',
  ],
  [
    /\b(?:it|test|describe)\.skip\([^)]*,/,
    'has no reason: use testUnless or describeUnless of packages/runtime/test/skip-with-reason.ts',
  ],
  [/\b(?:it|test|describe)\.only\b/, 'leaves out all other tests of its file'],
  [/\bskip\(\s*\)/, 'has no reason'],
  [/\bif \([^\n]*\)\s*\{?\s*\n?\s*(?:it|test|describe)(?:\.each)?\(/, 'is registered only sometimes: use testUnless'],
  [/\? (?:it|test|describe) : /, 'is registered only sometimes: use testUnless'],
  [
    /if \(!?(?:isRoot|is[A-Z]\w*Installed|has[A-Z]\w*|judges)\) (?:return;|(?:await )?expect\()/,
    'leaves out assertions on some machines',
  ],
];

function findSilentSkips(text: string): string[] {
  // A hook without its browser prepares nothing. Its tests are skipped with a reason.
  const tests = text.replaceAll('if (!hasBrowser) return;', '');
  return silent.flatMap(([pattern, message]) => {
    const found = pattern.exec(tests)?.[0];
    return found === undefined ? [] : [`${found.trim()} ${message}`];
  });
}

it('no test or assertion is left out without a reason in the report', () => {
  const files = execFileSync('git', ['ls-files', '*.test.ts', 'packages/*/test/**/*.ts'], {
    cwd: root,
    encoding: 'utf8',
  });
  const paths = files
    .trim()
    .split('\n')
    .filter((path) => !path.startsWith('lint/'));
  const found = paths.flatMap((path) =>
    findSilentSkips(readFileSync(`${root}/${path}`, 'utf8')).map((problem) => `${path}: ${problem}`),
  );
  expect(found).toEqual([]);
});

it.each([
  'describe.skip("x", () => {});',
  'if (judges) {\n    it("x", () => {});',
  'if (isLong) describe("x", () => {});',
  'it.skipIf(!hasPython)("x", () => {});',
  'describe.runIf(hasPython)("x", () => {});',
  'it.skip("x", () => {});',
  'it("x", ({ skip }) => skip());',
  'it.todo("x");',
  'it.only("x", () => {});',
  '(isRoot ? it : ignore)("x", () => {}); const t = isRoot ? it : other;',
  'if (isRoot) expect(uid).toBe(0);',
  'if (!isRoot) return;',
])('the rule finds %j', (text) => {
  expect(findSilentSkips(text)).not.toEqual([]);
});
