import fc from 'fast-check';
import { expect, test } from 'vitest';
import { argumentForm, hostileValue } from '../../test/hostile-values.ts';
import { parseArguments } from './argument-pairs.ts';

const pairsOf = (...given: string[]) => {
  const { keys, problems } = parseArguments(given);
  return problems.length > 0
    ? problems.map(({ where, message }) => `${where.source} ${message}`)
    : keys.map(({ key, source }) => [key, source.kind === 'literal' ? source.value : source]);
};

test('each argument is one pair, byte by byte', () => {
  expect(pairsOf('A=1', 'B= x ', 'C=a=b==', 'D=two words', 'E=say "hi" to', 'F=-x', 'G=a\nb')).toEqual([
    ['A', '1'],
    ['B', ' x '],
    ['C', 'a=b=='],
    ['D', 'two words'],
    ['E', 'say "hi" to'],
    ['F', '-x'],
    ['G', 'a\nb'],
  ]);
});

test('one argument may hold several pairs, as the specification says', () => {
  expect(pairsOf('A=1 B="two words"')).toEqual([
    ['A', '1'],
    ['B', 'two words'],
  ]);
  expect(pairsOf('A="x=1 C=2" B=@file  D=- ')).toEqual([
    ['A', 'x=1 C=2'],
    ['B', { kind: 'file', path: 'file' }],
    ['D', { kind: 'input' }],
  ]);
  expect(parseArguments(['A=1 B=2']).warnings[0]?.message).toBe('was read as 2 pairs: A, B');
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
  'A="two words"',
  'A="x B=2"',
  'A=" B=" ',
  'A=""',
])('%j can be meant in several ways and is refused', (text) => {
  expect(pairsOf('X=1', text)).toEqual([expect.stringMatching(/^argument 2 (?:can be read|has a value in double)/)]);
});

test('an argument that was no UTF-8 is refused, since what it was cannot be told any more', () => {
  expect(pairsOf('A=1', 'B=x\ufffd')).toEqual([expect.stringMatching(/^argument 2 is not valid UTF-8/)]);
});

test('standard input, files and prompts are named by -, @ and nothing, and a backslash takes that away', () => {
  expect(pairsOf('A=-', 'B=@p/q', 'C', 'D=\\@x', 'E=\\-', 'F=\\\\@x', 'G=\\x', 'H=\\-x')).toEqual([
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

test('what is no pair is refused by its place, all at once, and never shown', () => {
  const found = parseArguments(['Canary.7d1f=Canary', 'A=', '', 'Canary 7d1f', 'B="Canary"', 'D=@', 'C=1']);
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

test('any value given as an argument is read byte by byte, or the argument is refused (12,000 cases)', () => {
  fc.assert(
    fc.property(hostileValue, (text) => {
      const written = argumentForm(text);
      const { keys, problems } = parseArguments([`KEY=${written ?? text}`]);
      if (written !== null) expect(keys).toMatchObject([{ key: 'KEY', source: { kind: 'literal', value: text } }]);
      else expect(problems.length === 1 || keys.length > 1).toBe(true);
    }),
    { numRuns: 12_000 },
  );
});

test('several pairs in one argument are read byte by byte where quotes hold them together (10,000 cases)', () => {
  const quoted = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 8 })
    .filter((text) => !/["\\\0\ufffd]/.test(text));
  fc.assert(
    fc.property(fc.array(quoted, { minLength: 2, maxLength: 5 }), (values) => {
      const text = values.map((value, index) => `K${index}="${value}"`).join(' ');
      expect(pairsOf(text)).toEqual(values.map((value, index) => [`K${index}`, value]));
    }),
    { numRuns: 10_000 },
  );
});
