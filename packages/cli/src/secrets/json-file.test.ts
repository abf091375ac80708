import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJsonFile } from './json-file.ts';
import { formatLocation } from './parse-result.ts';

const problemsOf = (text: string) =>
  parseJsonFile(text, 'f.json').problems.map(({ where, message }) => `${formatLocation(where)}: ${message}`);

test('an object of texts is its keys and values, each with its line', () => {
  const { pairs, skipped } = parseJsonFile('\u{feff}{\n "A": "x\\ny",\n\n "__proto__": "\\u00e9", "E": ""\n}', 'f');
  expect(pairs.map(({ key, value, where }) => [key, value, where.line])).toEqual([
    ['A', 'x\ny', 2],
    ['__proto__', 'é', 4],
  ]);
  expect(skipped.map(({ key }) => key)).toEqual(['E']);
});

test('a key that is there twice is there twice: what JSON.parse hides is found later', () => {
  expect(parseJsonFile('{"A":"1","A":"2","\\u0041":"3"}', 'f').pairs.map(({ key }) => key)).toEqual(['A', 'A', 'A']);
});

test.each([
  ['{\n"A": "x",\n"B": 1,\n"C": null, "D": {"E": ["x", {"F": "y"}]}\n}', [3, 4, 4]],
  ['{"A.B": "x"}', [1]],
  ['[]', [1]],
  ['"x"', [1]],
  ['', [1]],
  ['{\n"A": "x\ny"}', [2]],
  ['{"A": \'x\'}', [1]],
])('%j is refused with its lines', (text, lines) => {
  expect(parseJsonFile(text, 'f').problems.map(({ where }) => where.line)).toEqual(lines);
});

test('a long text that nothing closes is found out in one walk', () => {
  const { problems } = parseJsonFile(`{"A": "x",\n"B": "${'long '.repeat(10_000)}}`, 'f');
  expect(problems.map(({ where }) => where.line)).toEqual([2]);
});

test('no problem shows anything of the file but keys', () => {
  for (const text of ['{"A": "Canary7d1f", B}', '{"Canary7d1f.": "x"}', '{"A": ["Canary7d1f"]}', 'Canary7d1f']) {
    expect(problemsOf(text).join()).not.toContain('Canary7d1f');
    expect(problemsOf(text)).toHaveLength(1);
  }
});

test('what JSON.stringify writes comes back byte by byte (10,000 cases)', () => {
  const key = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).filter((text) => text.length <= 64);
  const value = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(fc.tuple(key, value), { maxLength: 5 }), fc.nat(3), (members, indent) => {
      const break_ = indent === 0 ? '' : '\n';
      const text = `{${members.map(([name, text]) => `${break_}${JSON.stringify(name)} :${' '.repeat(indent)}${JSON.stringify(text)}`).join(',')}${break_}}`;
      expect(parseJsonFile(text, 'f').pairs.map((pair) => [pair.key, pair.value])).toEqual(members);
    }),
    { numRuns: 10_000 },
  );
});
