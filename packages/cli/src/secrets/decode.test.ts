import { expect, test } from 'vitest';
import { decodeUtf8 } from './decode.ts';

test('UTF-8 is kept as it is, a byte-order mark included', () => {
  expect(decodeUtf8(Buffer.from('\u{feff}é\r\n'), 'f')).toEqual({ text: '\u{feff}é\r\n' });
});

test('each line that is not UTF-8 is told, and UTF-16 by its name', () => {
  const bytes = Buffer.concat([
    Buffer.from('A=1\nB='),
    Buffer.from([0xff]),
    Buffer.from('\nC=é\nD='),
    Buffer.from([0xc3]),
  ]);
  expect(decodeUtf8(bytes, 'f')).toMatchObject({ problems: [{ where: { line: 2 } }, { where: { line: 4 } }] });
  expect(decodeUtf8(Buffer.from('\u{feff}A=1', 'utf16le'), 'f')).toMatchObject({
    problems: [{ message: 'this is UTF-16; save it as UTF-8' }],
  });
});
