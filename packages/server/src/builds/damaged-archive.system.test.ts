import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { createArchive, createPaxRecords, createTar } from '../../test/support/archive.ts';
import { ArchiveError } from './archive-error.ts';
import { unpackArchive } from './unpack.ts';

const root = await mkdtemp(join(tmpdir(), 'bothost-damaged-'));
const folder = join(root, 'folder');
await mkdir(folder);
const removeTree = openTreeRemover({
  quarantineDirectory: join(root, 'quarantine'),
  logger: pino({ level: 'silent' }),
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Expects `unpack` to create a complete tree, or to reject with an error code and leave no files. */
async function isSafe(bytes: Buffer): Promise<void> {
  const path = join(folder, 'archive');
  const target = join(folder, 'tree');
  await writeFile(path, bytes);
  const error = await unpackArchive({ path, bytes: bytes.length }, target, {
    output: () => undefined,
    signal: new AbortController().signal,
    removeTree,
    requireSpace: () => undefined,
  }).then(
    () => null,
    (refused: unknown) => refused,
  );
  if (error !== null) expect(error).toBeInstanceOf(ArchiveError);
  expect((await readdir(folder)).sort()).toEqual(error === null ? ['archive', 'tree'] : ['archive']);
  if (error === null) await requireInside(target);
  await rm(target, { recursive: true, force: true });
}

/**
 * Checks that every path of the tree is inside the target directory. Does not follow links, because they may be
 * circular.
 */
async function requireInside(target: string): Promise<void> {
  for (const { parentPath, name } of await readdir(target, { recursive: true, withFileTypes: true })) {
    const real = await realpath(join(parentPath, name)).catch(() => target);
    expect(`${real}/`.startsWith(`${target}/`)).toBe(true);
  }
}

const sound = createTar(
  { path: 'src/', type: 'Directory' },
  { path: 'src/bot.py', body: 'print(1)\n'.repeat(100) },
  createPaxRecords({ path: 'src/größe.txt' }),
  { path: 'short', body: 'x'.repeat(700) },
  { path: 'src/current', type: 'SymbolicLink', linkpath: 'bot.py' },
  { path: 'same', type: 'Link', linkpath: 'src/bot.py' },
);
const packed = gzipSync(sound);

const changes = (bytes: Buffer) =>
  fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
function changed(bytes: Buffer, by: readonly (readonly [number, number])[]): Buffer {
  const copy = Buffer.from(bytes);
  for (const [at, value] of by) copy[at] = value;
  return copy;
}

const segment = fc.constantFrom('a', 'b', 'c', '..', '.', '', 'd e');
const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/') || '/');
const entry = fc.record({
  path,
  type: fc.constantFrom('File', 'Directory', 'SymbolicLink', 'Link'),
  linkpath: path,
});

describe('unpackArchive creates a file tree without links to the outside, or throws an ArchiveError and leaves no files', () => {
  it('for an archive with bytes changed before compression', async () => {
    await fc.assert(
      fc.asyncProperty(changes(sound), (by) => isSafe(gzipSync(changed(sound, by)))),
      { numRuns: 60 },
    );
  });

  it('for an archive with bytes changed after compression', async () => {
    await fc.assert(
      fc.asyncProperty(changes(packed), (by) => isSafe(changed(packed, by))),
      { numRuns: 60 },
    );
  });

  it('for a truncated archive', async () => {
    const cut = fc.nat(packed.length - 1);
    await fc.assert(
      fc.asyncProperty(cut, (at) => isSafe(packed.subarray(0, at))),
      { numRuns: 40 },
    );
  });

  it('for an archive of random files, directories and links', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 8 }), async (entries) => {
        const whole = entries.map((one) =>
          one.type === 'File'
            ? { path: one.path, body: 'x' }
            : one.type === 'Directory'
              ? { ...one, linkpath: '' }
              : one,
        );
        await isSafe(createArchive(...whole));
      }),
      { numRuns: 120 },
    );
  });
});
