import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatArgumentValue, hostileValueArbitrary } from '../../test/hostile-values.ts';
import { parseKeyValueArguments } from './argument-pairs.ts';

const parsePairs = (...given: string[]) => {
  const { keys, problems } = parseKeyValueArguments(given);
  return problems.length > 0
    ? problems.map(({ where, message }) => `${where.source} ${message}`)
    : keys.map(({ key, source }) => [key, source.kind === 'literal' ? source.value : source]);
};

test('parses each argument as one pair and keeps its value unchanged', () => {
  expect(parsePairs('A=1', 'B= x ', 'C=a=b==', 'D=two words', 'E=say "hi" to', 'F=-x', 'G=a\nb')).toEqual([
    ['A', '1'],
    ['B', ' x '],
    ['C', 'a=b=='],
    ['D', 'two words'],
    ['E', 'say "hi" to'],
    ['F', '-x'],
    ['G', 'a\nb'],
  ]);
});

test('parses several pairs in one argument', () => {
  expect(parsePairs('A=1 B="two words"')).toEqual([
    ['A', '1'],
    ['B', 'two words'],
  ]);
  expect(parsePairs('A="x=1 C=2" B=@file  D=- ')).toEqual([
    ['A', 'x=1 C=2'],
    ['B', { kind: 'file', path: 'file' }],
    ['D', { kind: 'input' }],
  ]);
  expect(parseKeyValueArguments(['A=1 B=2']).warnings[0]?.message).toBe('was parsed as 2 pairs: A, B');
});

test('removes the quotes around the value in an argument with one quoted pair', () => {
  expect(parsePairs('A="two words"', 'B="x C=2"', 'C="@file"', 'D="-"')).toEqual([
    ['A', 'two words'],
    ['B', 'x C=2'],
    ['C', '@file'],
    ['D', '-'],
  ]);
});

test.each([
  'A=x B=2 and more',
  'A="x B=2',
  'A=1 B="x"y',
  'A=1 B={"k":"v"}',
  'A="a\\"b" B=1',
  'A=1\nB=2',
  'A=1\tB=2',
  'A=1 B=',
  'A="say \\"hi\\""',
  'A="say "hi""',
  'A=""',
])('rejects the argument %j as ambiguous or wrongly quoted', (text) => {
  expect(parsePairs('X=1', text)).toEqual([expect.stringMatching(/^argument 2 (?:can be read|has a quoted value)/)]);
});

test('rejects an argument that is not valid UTF-8', () => {
  expect(parsePairs('A=1', 'B=x\ufffd')).toEqual([expect.stringMatching(/^argument 2 is not valid UTF-8/)]);
});

test('parses KEY=-, KEY=@FILE and KEY as sources of a value, but - and @ after a backslash as text', () => {
  expect(parsePairs('A=-', 'B=@p/q', 'C', 'D=\\@x', 'E=\\-', 'F=\\\\@x', 'G=\\x', 'H=\\-x')).toEqual([
    ['A', { kind: 'input' }],
    ['B', { kind: 'file', path: 'p/q' }],
    ['C', { kind: 'prompt' }],
    ['D', '@x'],
    ['E', '-'],
    ['F', '\\@x'],
    ['G', '\\x'],
    ['H', '\\-x'],
  ]);
});

test('reports every invalid argument by its position and never quotes it', () => {
  const found = parseKeyValueArguments(['Canary.7d1f=Canary', 'A=', '', 'Canary 7d1f', 'B="Canary""', 'D=@', 'C=1']);
  expect(found.problems.map(({ where }) => where.source)).toEqual([
    'argument 1',
    'argument 2',
    'argument 3',
    'argument 4',
    'argument 5',
    'argument 6',
  ]);
  expect(JSON.stringify(found.problems)).not.toContain('Canary');
});

test('keeps any value unchanged, or rejects the argument (12,000 cases)', () => {
  fc.assert(
    fc.property(hostileValueArbitrary, (text) => {
      const written = formatArgumentValue(text);
      const { keys, problems } = parseKeyValueArguments([`KEY=${written ?? text}`]);
      if (written !== null) expect(keys).toMatchObject([{ key: 'KEY', source: { kind: 'literal', value: text } }]);
      else if (problems.length === 0 && keys.length === 1) {
        const [first] = keys;
        expect(`KEY="${first?.source.kind === 'literal' ? first.source.value : ''}"`).toBe(`KEY=${text.trimEnd()}`);
      } else expect(problems.length === 1 || keys.length > 1).toBe(true);
    }),
    { numRuns: 12_000 },
  );
});

test('keeps the values of several quoted pairs in one argument unchanged (10,000 cases)', () => {
  const quoted = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 8 })
    .filter((text) => !/["\\\0\ufffd]/.test(text));
  fc.assert(
    fc.property(fc.array(quoted, { minLength: 2, maxLength: 5 }), (values) => {
      const text = values.map((value, index) => `K${index}="${value}"`).join(' ');
      expect(parsePairs(text)).toEqual(values.map((value, index) => [`K${index}`, value]));
    }),
    { numRuns: 10_000 },
  );
});
