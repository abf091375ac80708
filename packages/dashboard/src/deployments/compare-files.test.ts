import { expect, test } from 'vitest';
import { compareFiles } from './compare-files.ts';

const file = (path: string, sha256: string, sizeBytes = 1) => ({ path, sha256, sizeBytes });

test('compareFiles lists added, changed and removed files by path, and no equal ones', () => {
  expect(
    compareFiles(
      [file('b.py', 'one', 10), file('same.py', 'two'), file('gone.py', 'three', 5)],
      [file('b.py', 'other', 12), file('same.py', 'two'), file('a.py', 'four', 7)],
    ),
  ).toEqual([
    { path: 'a.py', kind: 'added', fromBytes: null, toBytes: 7 },
    { path: 'b.py', kind: 'changed', fromBytes: 10, toBytes: 12 },
    { path: 'gone.py', kind: 'removed', fromBytes: 5, toBytes: null },
  ]);
});
