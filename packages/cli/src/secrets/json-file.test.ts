import { formatLocation } from '@bothost/contract/parsed-secrets-input';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJsonFile } from './json-file.ts';

const findProblems = (text: string) =>
  parseJsonFile(text, 'f.json').problems.map(({ where, message }) => `${formatLocation(where)}: ${message}`);

test('parses an object of strings with the line of each key', () => {
  const { pairs, skipped } = parseJsonFile('\u{feff}{\n "A": "x\\ny",\n\n "__proto__": "\\u00e9", "E": ""\n}', 'f');
  expect(pairs.map(({ key, value, where }) => [key, value, where.line])).toEqual([
    ['A', 'x\ny', 2],
    ['__proto__', 'é', 4],
  ]);
  expect(skipped.map(({ key }) => key)).toEqual(['E']);
});

test('keeps both values of a duplicate key', () => {
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
])('rejects the file %j and reports the numbers of its invalid lines', (text, lines) => {
  expect(parseJsonFile(text, 'f').problems.map(({ where }) => where.line)).toEqual(lines);
});

test('rejects a long unclosed string in linear time', () => {
  const { problems } = parseJsonFile(`{"A": "x",\n"B": "${'long '.repeat(10_000)}}`, 'f');
  expect(problems.map(({ where }) => where.line)).toEqual([2]);
});

test('the problems reported for a file contain neither its values nor its invalid text', () => {
  for (const text of ['{"A": "Canary7d1f", B}', '{"Canary7d1f.": "x"}', '{"A": ["Canary7d1f"]}', 'Canary7d1f']) {
    expect(findProblems(text).join()).not.toContain('Canary7d1f');
    expect(findProblems(text)).toHaveLength(1);
  }
});

test('parses the output of JSON.stringify back to the same values (10,000 cases)', () => {
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
