import { parseEnvFile } from '@bothost/contract/env-file';
import { formatLocation, type LocatedMessage } from '@bothost/contract/parsed-secrets-input';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostileValueArbitrary, listEnvFileValueEncodings } from './hostile-values.ts';

const format = (messages: readonly LocatedMessage[]) =>
  messages.map(({ where, message }) => `${formatLocation(where)}: ${message}`);
const values = (text: string) =>
  Object.fromEntries(parseEnvFile(text, '.env').pairs.map(({ key, value }) => [key, value]));

test.each([
  ['export A=b', 'b'],
  ['export\tA=b', 'b'],
  ['  A = b ', 'b'],
  ['A=b#c', 'b#c'],
  ['A={"k":"v#1"}', '{"k":"v#1"}'],
  ['A="b#c"', 'b#c'],
  ['A="b" # c', 'b'],
  ['A="x\\ny"', 'x\ny'],
  ['A="x\\ty\\r"', 'x\ty\r'],
  ['A="x\\"y"', 'x"y'],
  ['A="C:\\\\d\\\\"', 'C:\\d\\'],
  ['A="a\\$b"', 'a$b'],
  ['A="a\\qb"', 'a\\qb'],
  ["A='v\\n'", 'v\\n'],
  ['A=`v`', '`v`'],
  ['A="one\ntwo"', 'one\ntwo'],
  ['A="one\r\ntwo"\r\n', 'one\ntwo'],
  ["A='-----BEGIN-----\nx=\n-----END-----\n'", '-----BEGIN-----\nx=\n-----END-----\n'],
  ['A=$' + '{B}', '$' + '{B}'],
  ['A=pa$$w0rd', 'pa$$w0rd'],
  ['A=$(cmd)', '$(cmd)'],
  ['\u{feff}A=b', 'b'],
  ['A=b"c"d', 'b"c"d'],
  ['A=\u00a0b', '\u00a0b'],
  ['A=b=c==', 'b=c=='],
  ['A=b\r\n', 'b'],
  ['A="b  \n  c" ', 'b  \n  c'],
])('parses %j as the value %j', (line, value) => {
  expect(values(line)).toEqual({ A: value });
});

test.each([
  ['A="b\\$c"', 'treats a backslash'],
  ["A='C:\\\\d'", 'treats a backslash'],
  ['A="x\\ay"', 'treats a backslash'],
  ['A=$' + '{B}', 'replaces variables'],
  ["A='$" + "{B:-c}'", 'replaces variables'],
  ['A="x $' + '{B}"', 'replaces variables'],
  ['A= # c', 'takes the comment as the value'],
  ['A=  #', 'takes the comment as the value'],
  ['A=b\u00a0#c', 'reads another value'],
  ['A="C:\\\\"\nB="x"', 'ignores this line'],
])('warns with the line about %j, which python-dotenv reads in another way', (text, reason) => {
  const { warnings, problems } = parseEnvFile(`X=1\n${text}\n`, '.env');
  expect(problems).toEqual([]);
  expect(format(warnings)).toContainEqual(expect.stringContaining(`.env:2: A: python-dotenv ${reason}`));
});

test.each(['A=#ff0000', 'A=b#c', 'A="b # c"', 'A="b" # c', 'A=', 'A=""', 'A="x\\ny"', 'A=$B', 'A="one\ntwo"'])(
  'does not warn about %j, which python-dotenv reads in the same way',
  (text) => {
    expect(JSON.stringify(parseEnvFile(text, '.env').warnings)).not.toContain('python-dotenv');
  },
);

test('leaves out a key whose value is only a comment, and keeps a value that begins with #', () => {
  const { pairs, skipped, problems } = parseEnvFile('A=  # comment\nB=#ff0000\n', '.env');
  expect([pairs, skipped, problems]).toMatchObject([[{ key: 'B', value: '#ff0000' }], [{ key: 'A' }], []]);
});

test('accepts keys with names of object properties, such as __proto__', () => {
  expect(parseEnvFile('__proto__=c\nA-B=c\n1A=c\nconstructor=d', 'f').pairs.map(({ key }) => key)).toEqual([
    '__proto__',
    'A-B',
    '1A',
    'constructor',
  ]);
});

test.each([
  ['A', 1, 'not KEY=value'],
  ['A: b', 1, 'not KEY=value'],
  ['; c', 1, 'not KEY=value'],
  ['- A=b', 1, 'invalid key'],
  ['A.B=c', 1, 'invalid key'],
  ['É=c', 1, 'invalid key'],
  ["'A'=c", 1, 'invalid key'],
  [`${'A'.repeat(65)}=c`, 1, 'invalid key'],
  ['X=1\nA=b # c', 2, 'quote the value'],
  ['A="b"c', 1, 'the closing quote'],
  ['A="b"#c', 1, 'the closing quote'],
  ['A="""x\ny"""', 1, 'the closing quote'],
  ['X=1\nA="x\nB=2', 2, 'unclosed quote'],
  ["A='x", 1, 'unclosed quote'],
  ['A=b\0c', 1, 'control character'],
  ['A=b\u001b[2J', 1, 'control character'],
  ['A=b\rB=c', 1, 'control character'],
  ['# comment\0', 1, 'control character'],
])('rejects the file %j with a problem in line %i', (text, line, message) => {
  const { problems } = parseEnvFile(text, '.env');
  expect(format(problems)).toEqual([expect.stringMatching(new RegExp(`^\\.env:${line}: .*${message}`))]);
});

test('parses a long line of blanks in linear time', () => {
  const blanks = ' '.repeat(1_000_000);
  const { pairs, problems } = parseEnvFile(`A${blanks}B\nC=x${blanks}y`, 'f');
  expect(pairs.map(({ key, value }) => [key, value.length])).toEqual([['C', 1_000_002]]);
  expect(problems.map(({ where }) => where.line)).toEqual([1]);
});

test('reports all problems in line order, but none for the lines that follow an unclosed quote', () => {
  const text = 'A=1\nnonsense\nB="open\nMIIE/+==\n--end--\nC=x # y\nD=\u0007\nE=2\n';
  expect(parseEnvFile(text, 'f').problems.map(({ where }) => where.line)).toEqual([2, 3, 6, 7]);
});

test('reports problems and warnings without any value or invalid line of the file', () => {
  const hidden = 'Canary7d1f';
  const lines = [`A=${hidden} # x`, `B="${hidden}"x`, hidden, `${hidden}.x=1`, `C=\`${hidden}#\``, `D="${hidden}`];
  const { problems, warnings } = parseEnvFile(lines.join('\n'), 'f');
  expect(problems.length).toBeGreaterThan(2);
  expect(JSON.stringify({ problems, warnings })).not.toContain(hidden);
});

test('reports keys with an empty value as skipped, not as pairs', () => {
  const { pairs, skipped } = parseEnvFile('A=\nB=""\nC=\'\'\nD=x\n', '.env');
  expect(pairs.map(({ key }) => key)).toEqual(['D']);
  expect(skipped.map(({ key, where }) => `${key} ${formatLocation(where)}`)).toEqual([
    'A .env:1',
    'B .env:2',
    'C .env:3',
  ]);
});

test('keeps any value unchanged, however it is quoted or escaped in the file (12,000 cases)', () => {
  const entry = fc.record({
    value: hostileValueArbitrary.filter((text) => listEnvFileValueEncodings(text).length > 0),
    way: fc.nat(),
    before: fc.constantFrom('', '\n', '# a comment = "\n', '   \n', '\t# x\n'),
    head: fc.constantFrom('', 'export ', '  ', 'export\t'),
    space: fc.constantFrom('=', ' = ', '\t=', '= '),
    crlf: fc.boolean(),
    tail: fc.constantFrom('', ' ', '\t'),
  });
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 6 }), fc.boolean(), (entries, mark) => {
      const lines = entries.map(({ value, way, before, head, space, crlf, tail }, index) => {
        const ways = listEnvFileValueEncodings(value);
        const written = ways[way % ways.length] ?? '';
        return `${before}${head}KEY_${index}${space}${written}${tail}${crlf ? '\r\n' : '\n'}`;
      });
      const read = parseEnvFile((mark ? '\u{feff}' : '') + lines.join(''), 'f');
      expect(read.problems).toEqual([]);
      expect(read.pairs.map((pair) => [pair.key, pair.value])).toEqual(
        entries.map((one, index) => [`KEY_${index}`, one.value]),
      );
    }),
    { numRuns: 12_000 },
  );
});

test('never throws, and reports every problem with a valid line number (10,000 cases)', () => {
  const text = fc.array(fc.oneof(hostileValueArbitrary, fc.constantFrom('A=', 'B=', '\n', '\0')), { maxLength: 20 });
  fc.assert(
    fc.property(text, (pieces) => {
      const whole = pieces.join('');
      const count = whole.split('\n').length;
      const { problems } = parseEnvFile(whole, 'f');
      for (const { where } of problems) expect(where.line).toSatisfy((line) => line >= 1 && line <= count);
      if (/(?![\t\n\r])\p{Cc}/u.test(whole)) expect(problems).not.toEqual([]);
    }),
    { numRuns: 10_000 },
  );
});
