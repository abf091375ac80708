import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostileValueArbitrary } from '../../test/hostile-values.ts';
import { decodeUtf8 } from './decode-utf8.ts';

test('reports each line that is not UTF-8, and reports UTF-16 for a file in UTF-16', () => {
  const bytes = Buffer.concat([
    Buffer.from('A=1\nB='),
    Buffer.from([0xff]),
    Buffer.from('\nC=é\nD='),
    Buffer.from([0xc3]),
  ]);
  expect(decodeUtf8(bytes, 'f')).toMatchObject({ problems: [{ where: { line: 2 } }, { where: { line: 4 } }] });
  expect(decodeUtf8(Buffer.from('\u{feff}A=1', 'utf16le'), 'f')).toMatchObject({
    problems: [{ message: 'the file is UTF-16; save it as UTF-8' }],
  });
});

test('returns text that encodes to the same bytes, or reports the lines that are not UTF-8', () => {
  const piece = fc.oneof(
    hostileValueArbitrary.map((value) => Buffer.from(value)),
    fc.uint8Array({ maxLength: 6 }),
  );
  const bytes = fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => Buffer.concat(pieces));
  let texts = 0;
  fc.assert(
    fc.property(bytes, (given) => {
      const read = decodeUtf8(given, 'here');
      if ('problems' in read)
        return read.problems.length > 0 && read.problems.every(({ where }) => where.line !== null);
      texts += 1;
      return Buffer.from(read.text).equals(given);
    }),
    { numRuns: 30_000 },
  );
  expect(texts).toBeGreaterThan(10_000);
});
