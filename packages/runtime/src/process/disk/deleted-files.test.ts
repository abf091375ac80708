import { describe, expect, it } from 'vitest';
import { sumDeletedFileSizes } from './deleted-files.ts';

const ids = new Map([
  ['/proc/7/fd', 'first'],
  ['/proc/8/fd', 'first'],
  ['/proc/9/fd', 'second'],
]);

describe('sumDeletedFileSizes', () => {
  it("sums the bytes of each instance's files on the device, and counts each file once", () => {
    const output =
      '/proc/7/fd 1 100 16\n/proc/8/fd 1 100 16\n/proc/8/fd 1 101 8\n/proc/9/fd 2 102 8\n/proc/9/fd 1 103 8\n';
    expect(sumDeletedFileSizes(output, ids, 1)).toEqual(
      new Map([
        ['first', 24 * 512],
        ['second', 8 * 512],
      ]),
    );
  });

  it('ignores a last line of find output that has no line break, because its block count may be truncated', () => {
    const output = '/proc/7/fd 1 100 16\n/proc/9/fd 1 103 8';
    expect(sumDeletedFileSizes(output, ids, 1)).toEqual(new Map([['first', 16 * 512]]));
  });
});
