import { expect, it } from 'vitest';
import { isLevelAtLeast, scanForMatchingLines } from './scan-lines.ts';

it('isLevelAtLeast returns true for levels at or above the given level, and false for a line without a level', () => {
  expect(isLevelAtLeast('ERROR', 'WARNING')).toBe(true);
  expect(isLevelAtLeast('WARNING', 'WARNING')).toBe(true);
  expect(isLevelAtLeast('INFO', 'WARNING')).toBe(false);
  expect(isLevelAtLeast(null, 'TRACE')).toBe(false);
});

it.each([
  ['TEA is ready', 'tea', true],
  ['the Tea is hot', 'tea is', true],
  ['key B1', 'b1', true],
  ['Éclair', 'éclair', true],
  ['the tide', 'tea', false],
])(
  'scanForMatchingLines matches the filter text regardless of case: line %j, filter text %j, match %j',
  (written, text, matches) => {
    const bytes = Buffer.from(written);
    const marks = [{ at: 0, end: bytes.length, unattended: false }];
    const file = { path: '', base: 0, marks, dropped: [], endedAt: 0 };
    const lines = [{ from: 0, to: bytes.length, end: 'output' }] as const;
    const found = scanForMatchingLines(file, { kind: 'lines', bytes, from: 0, lines }, { text, level: undefined });
    expect(found.flatMap(({ decode }) => decode?.().log ?? [])).toEqual(matches ? [written] : []);
  },
);
