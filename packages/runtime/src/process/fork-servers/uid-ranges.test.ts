import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestDirectory } from '../../../test/test-directory.ts';
import {
  getUidRangesDirectory,
  parseSubuidRanges,
  releaseOrphanedRanges,
  releaseRange,
  reserveRange,
  uidsPerRange,
} from './uid-ranges.ts';

async function openReservations(): Promise<string> {
  const root = await createTestDirectory();
  return join(root, 'uids');
}

describe('reserveRange', () => {
  it('gives each owner a different range of user ids that no Linux distribution uses', async () => {
    const reservations = await openReservations();
    const first = reserveRange(reservations, '/data/fork-servers/a');
    const second = reserveRange(reservations, '/data/fork-servers/a');
    expect(Math.abs(first - second)).toBeGreaterThanOrEqual(uidsPerRange);
    for (const id of [first, second]) {
      expect(id).toBeGreaterThanOrEqual(0x7000_0000);
      expect(id + uidsPerRange).toBeLessThanOrEqual(0x7ffe_0000);
    }
  });

  it('skips a released range while an instance still has one of its user ids', async () => {
    const reservations = await openReservations();
    const first = reserveRange(reservations, '/data/fork-servers/a');
    releaseRange(reservations, first, '/data/fork-servers/a');
    expect(reserveRange(reservations, '/data/fork-servers/a')).toBe(first);
    releaseRange(reservations, first, '/data/fork-servers/a');
    await mkdir(reservations);
    await writeFile(join(reservations, String(first + 5)), '/data/instances/i');
    expect(reserveRange(reservations, '/data/fork-servers/a')).not.toBe(first);
  });
});

describe('releaseRange', () => {
  it('does not release a range that belongs to another owner', async () => {
    const reservations = await openReservations();
    const first = reserveRange(reservations, '/data/fork-servers/a');
    releaseRange(reservations, first, '/data/fork-servers/b');
    expect(await readdir(getUidRangesDirectory(reservations))).toEqual([String(first)]);
  });
});

describe('releaseOrphanedRanges', () => {
  it('releases a user id range if the directory that owns it is missing, or if `isOrphan` returns true for this directory', async () => {
    const reservations = await openReservations();
    const existing = await createTestDirectory();
    const kept = reserveRange(reservations, existing);
    reserveRange(reservations, join(existing, 'fork-servers/deleted'));
    reserveRange(reservations, tmpdir());
    await releaseOrphanedRanges(reservations, (owner) => owner === tmpdir());
    expect(await readdir(getUidRangesDirectory(reservations))).toEqual([String(kept)]);
  });
});

describe('parseSubuidRanges', () => {
  it('parses the lines of /etc/subuid and skips invalid ones', () => {
    expect(parseSubuidRanges('ada:100000:65536\n# comment:1:2\n\n1000:231072:65536\nbroken\n')).toEqual([
      { start: 100_000, count: 65_536 },
      { start: 231_072, count: 65_536 },
    ]);
  });
});
