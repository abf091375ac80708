import { mkdir, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { unpackedArchiveLimits } from '@bothost/contract';
import type { DirectoryTreeRemover } from '@bothost/runtime';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestDirectory } from '../../../runtime/test/test-directory.ts';
import {
  createArchive,
  createPaxRecords,
  createTar,
  createTarEntry,
  endOfArchive,
  fixChecksum,
  type TestTarEntry,
} from '../../test/support/archive.ts';
import { ArchiveError, type ArchiveProblem } from './archive-error.ts';
import { type UnpackLimits, unpackArchive } from './unpack.ts';

let root: string;
let folder: string;
let removeTree: DirectoryTreeRemover;
beforeEach(async () => {
  root = await createTestDirectory();
  folder = join(root, 'folder');
  await mkdir(folder);
  removeTree = openTreeRemover({ quarantineDirectory: join(root, 'quarantine'), logger: pino({ level: 'silent' }) });
});

async function unpack(bytes: Buffer, limits: Partial<UnpackLimits> = {}) {
  const path = join(folder, 'archive');
  await writeFile(path, bytes);
  const lines: string[] = [];
  const target = join(folder, 'tree');
  const { signal } = new AbortController();
  const output = (line: string) => void lines.push(line);
  const result = await unpackArchive({ path, bytes: bytes.length }, target, {
    output,
    signal,
    removeTree,
    requireSpace: () => undefined,
    limits: { ...unpackedArchiveLimits, ...limits },
  });
  return { ...result, lines, at: (name: string) => join(target, name) };
}

describe('unpackArchive', () => {
  it('creates files, directories and links, and keeps only executable permissions', async () => {
    const { at, files, bytes, lines } = await unpack(
      createArchive(
        { path: './', type: 'Directory' },
        { path: './src/', type: 'Directory', mode: 0o777 },
        { path: './src/bot.py', body: 'print(1)\n', mode: 0o666 },
        { path: '[run]', body: '#!/bin/sh\n', mode: 0o4755 },
        { path: 'deep/without/folders.txt', body: 'x' },
        { path: 'src/current', type: 'SymbolicLink', linkpath: '../src/bot.py' },
        { path: 'same', type: 'Link', linkpath: '[run]' },
        createPaxRecords({ path: 'src/größe.txt' }),
        { path: 'short', body: 'y' },
      ),
    );
    expect({ files, bytes }).toEqual({ files: 5, bytes: 31 });
    expect(await readFile(at('src/bot.py'), 'utf8')).toBe('print(1)\n');
    expect((await stat(at('src/bot.py'))).mode & 0o7777).toBe(0o644);
    expect((await stat(at('[run]'))).mode & 0o7777).toBe(0o755);
    expect((await stat(at('src'))).mode & 0o7777).toBe(0o755);
    expect(await readFile(at('deep/without/folders.txt'), 'utf8')).toBe('x');
    expect(await readlink(at('src/current'))).toBe('../src/bot.py');
    expect(await readFile(at('same'), 'utf8')).toBe('#!/bin/sh\n');
    expect(await readFile(at('src/größe.txt'), 'utf8')).toBe('y');
    expect(lines).toEqual(['[run] loses its setuid and setgid bits.']);
  });

  it('skips .env files in any directory and reports them, but keeps .env.example', async () => {
    const { at, lines } = await unpack(
      createArchive(
        { path: '.env', body: 'KEY=1' },
        { path: 'a/.env.local', body: 'KEY=2' },
        { path: '.env.example', body: 'KEY=' },
        { path: '.environment', body: '' },
      ),
    );
    expect((await readdir(at('.'))).sort()).toEqual(['.env.example', '.environment']);
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['.env', 'a/.env.local']);
  });

  it('reads archives that are split into chunks at any byte', async () => {
    const body = Buffer.alloc(3_000_000, 'abcdefgh');
    const { at } = await unpack(createArchive({ path: 'large', body }, { path: 'after', body: 'z' }));
    expect((await readFile(at('large'))).equals(body)).toBe(true);
    expect(await readFile(at('after'), 'utf8')).toBe('z');
  });
});

const file = (path: string): TestTarEntry => ({ path, body: 'x' });
const link = (path: string, linkpath: string): TestTarEntry => ({ path, type: 'SymbolicLink', linkpath });
const good = createArchive(file('bot.py'));
const noise = Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7919 + (index >> 3)) % 251));
const withNoise = createArchive({ path: 'noise', body: noise }, file('bot.py'));
const damaged = Buffer.from(withNoise);
damaged.fill(0x55, Math.floor(damaged.length / 2), Math.floor(damaged.length / 2) + 40);

/**
 * Compresses content as two gzip members. The first one has a single byte and a comment (RFC 1952, section 2.3) that is
 * longer than a chunk.
 */
function inPieces(content: Buffer): Buffer {
  const first = gzipSync(content.subarray(0, 1));
  const header = Buffer.from(first.subarray(0, 10));
  header[3] = 0x10;
  const comment = Buffer.concat([Buffer.alloc(256 * 1024 - 12 - (first.length - 10), 'c'), Buffer.alloc(1)]);
  return Buffer.concat([header, comment, first.subarray(10), gzipSync(content.subarray(1))]);
}

const attacks: readonly [string, ArchiveProblem, Buffer, Partial<UnpackLimits>?][] = [
  ['text', 'archive-not-gzip', Buffer.from('this is no archive')],
  ['a zip file', 'archive-not-gzip', Buffer.from('PK\x03\x04')],
  ['gzip of something else', 'archive-not-tar', gzipSync(Buffer.alloc(2_000, 'text '))],
  ['gzip in gzip', 'archive-not-tar', gzipSync(good)],
  ['gzip in gzip that comes in pieces', 'archive-not-tar', inPieces(good)],
  ['Zstandard in gzip', 'archive-not-tar', gzipSync(Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), noise]))],
  ['gzip of nothing', 'archive-not-tar', gzipSync('')],
  ['damaged gzip', 'archive-corrupt', damaged],
  [
    'a damaged header',
    'archive-corrupt',
    gzipSync(Buffer.concat([createTarEntry(file('a')), Buffer.alloc(512, 1), endOfArchive])),
  ],
  ['cut off gzip', 'archive-truncated', withNoise.subarray(0, -200)],
  ['gzip without its last bytes', 'archive-truncated', good.subarray(0, -4)],
  [
    'a tar that is cut off in a file',
    'archive-truncated',
    gzipSync(createTar({ path: 'a', body: noise }).subarray(0, 2048)),
  ],
  ['a tar without its end', 'archive-truncated', gzipSync(createTarEntry(file('a')))],
  ['bytes behind gzip', 'archive-trailing-data', Buffer.concat([good, Buffer.from('more')])],
  ['bytes behind gzip that begin with zeros', 'archive-trailing-data', Buffer.concat([good, Buffer.from('\0\0more')])],
  [
    'a tar behind the end',
    'archive-trailing-data',
    gzipSync(Buffer.concat([createTar(file('a')), createTar(file('b'))])),
  ],
  ['a second gzip behind the end', 'archive-trailing-data', Buffer.concat([good, good])],
  ['no entries', 'archive-empty', gzipSync(endOfArchive)],
  ['folders only', 'archive-empty', createArchive({ path: 'a/', type: 'Directory' })],
  ['an absolute path', 'archive-absolute-path', createArchive(file('/etc/cron.d/x'))],
  [
    'an absolute path in an extended header',
    'archive-absolute-path',
    createArchive(createPaxRecords({ path: '/etc/x' }), file('a')),
  ],
  ['a path upwards', 'archive-path-outside', createArchive(file('../x'))],
  ['a path upwards in the middle', 'archive-path-outside', createArchive(file('a/../../x'))],
  ['a path upwards that would stay inside', 'archive-path-outside', createArchive(file('a/../x'))],
  ['an absolute link', 'archive-link-outside', createArchive(file('a'), link('l', '/etc/passwd'))],
  ['a link upwards', 'archive-link-outside', createArchive(file('a'), link('b/l', '../../x'))],
  ['links that lead out together', 'archive-link-outside', createArchive(file('a'), link('d', '.'), link('l', 'd/..'))],
  [
    'links that lead out, the other way round',
    'archive-link-outside',
    createArchive(link('l', 'd/..'), link('d', 'e/f/../..')),
  ],
  ['an absolute link to a link', 'archive-link-outside', createArchive(file('a'), link('l', 'a/../..'))],
  [
    'an absolute hard link',
    'archive-link-outside',
    createArchive({ path: 'h', type: 'Link', linkpath: '/etc/passwd' }),
  ],
  ['a hard link upwards', 'archive-link-outside', createArchive({ path: 'h', type: 'Link', linkpath: '../x' })],
  ['a hard link to nothing', 'archive-link-broken', createArchive({ path: 'h', type: 'Link', linkpath: 'a' })],
  [
    'a hard link to a link',
    'archive-link-broken',
    createArchive(file('a'), link('l', 'a'), { path: 'h', type: 'Link', linkpath: 'l' }),
  ],
  ['an entry through a link', 'archive-path-through-link', createArchive(link('d', '.'), file('d/x'))],
  [
    'a hard link through a link',
    'archive-path-through-link',
    createArchive(file('a'), link('d', '.'), { path: 'd/h', type: 'Link', linkpath: 'a' }),
  ],
  ['an entry in a file', 'archive-path-through-file', createArchive(file('a'), file('a/b'))],
  [
    'a folder that becomes a link',
    'archive-duplicate-entry',
    createArchive({ path: 'd/', type: 'Directory' }, link('d', '/tmp')),
  ],
  [
    'a folder without an entry that becomes a link',
    'archive-duplicate-entry',
    createArchive(file('d/x'), link('d', '.')),
  ],
  ['a link that becomes a file', 'archive-duplicate-entry', createArchive(link('d', 'x'), file('d'))],
  ['a file twice', 'archive-duplicate-entry', createArchive(file('a'), file('./a'))],
  ['the root as a link', 'archive-duplicate-entry', createArchive(link('.', '/tmp'))],
  ['a character device', 'archive-special-file', createArchive({ path: 'null', type: 'CharacterDevice' })],
  ['a block device', 'archive-special-file', createArchive({ path: 'sda', type: 'BlockDevice' })],
  ['a pipe', 'archive-special-file', createArchive({ path: 'p', type: 'FIFO' })],
  ['a sparse file', 'archive-special-file', createArchive({ path: 's', type: 'SparseFile', body: 'x' })],
  ['a line break in a name', 'archive-path-invalid', createArchive(file('a\nb'))],
  ['an escape sequence in a name', 'archive-path-invalid', createArchive(file('\x1b[31mred'))],
  ['a NUL in a name', 'archive-path-invalid', createArchive(createPaxRecords({ path: 'bot.py\0.txt' }), file('a'))],
  [
    'a NUL in a long name',
    'archive-path-invalid',
    createArchive({ path: 'L', type: 'NextFileHasLongPath', body: 'bot.py\0.txt\0' }, file('a')),
  ],
  [
    'a name that contains U+FFFD',
    'archive-path-invalid',
    createArchive(createPaxRecords({ path: 'a\uFFFDb' }), file('a')),
  ],
  [
    'a NUL in a link',
    'archive-path-invalid',
    createArchive(file('a'), createPaxRecords({ linkpath: 'a\0/../..' }), link('l', 'a')),
  ],
  ['a long name', 'archive-path-too-long', createArchive(createPaxRecords({ path: 'a'.repeat(256) }), file('a'))],
  [
    'a long path',
    'archive-path-too-long',
    createArchive(createPaxRecords({ path: `${'abc/'.repeat(300)}x` }), file('a')),
  ],
  [
    'a long link',
    'archive-path-too-long',
    createArchive(file('a'), createPaxRecords({ linkpath: 'abc/'.repeat(300) }), link('l', 'a')),
  ],
  ['deeply nested folders', 'archive-too-deep', createArchive(file(`${'a/'.repeat(9)}x`)), { depth: 9 }],
  ['links that take too many steps to resolve', 'archive-links-winding', windingLinks(2_000)],
  ['many entries', 'archive-too-many-files', createArchive(file('a'), file('b'), file('c')), { entries: 2 }],
  [
    'large content',
    'archive-too-large-unpacked',
    createArchive({ path: 'a', body: Buffer.alloc(9_000) }),
    { bytes: 8_192 },
  ],
  ['a bomb', 'archive-bomb', createArchive({ path: 'a', body: Buffer.alloc(40_000_000) })],
  [
    'hard links to one large file',
    'archive-bomb',
    createArchive(
      { path: 'a', body: Buffer.alloc(1_000_000) },
      ...Array.from({ length: 20 }, (_, index) => ({ path: `h${index}`, type: 'Link', linkpath: 'a' })),
    ),
  ],
  [
    'many folders without entries',
    'archive-too-many-files',
    createArchive(file('a/b/c/d/e/x'), file('f/g/h/i/j/x')),
    { entries: 9 },
  ],
  [
    'a size that only the extended header has',
    'archive-corrupt',
    createArchive(createPaxRecords({ size: '600' }), file('a'), file('b')),
  ],
];

/** Creates links whose targets descend 195 directories, return to the top directory, and name the next link. */
function windingLinks(count: number): Buffer {
  const far = `${'a/'.repeat(195)}${'../'.repeat(195)}`;
  const links = Array.from({ length: count }, (_, index) => [
    createPaxRecords({ linkpath: `${far}l${index < 39 ? index + 1 : 0}` }),
    link(`l${index}`, 'x'),
  ]);
  return createArchive(file('bot.py'), ...links.flat());
}

it('unpackArchive rejects an archive with a name that is not UTF-8, and escapes the name in the message', async () => {
  const header = createTarEntry({ path: 'caf?.py' });
  header.fill(0xe9, 3, 4);
  fixChecksum(header);
  await expect(unpack(createArchive(header))).rejects.toThrow(/invalid UTF-8: caf\\ufffd\.py\.$/);
});

describe('unpackArchive, given a malicious archive', () => {
  it.each(attacks)('rejects %s with the code %s and leaves no files', async (_, problem, bytes, limits = {}) => {
    const refused = await unpack(bytes, limits).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(ArchiveError);
    expect(refused).toMatchObject({ problem, message: expect.stringMatching(/^[A-Z][^[\]\p{Cc}]*\.$/u) });
    expect(await readdir(folder)).toEqual(['archive']);
  });
});

it.each([
  ['between two files', createTar({ path: '.env', body: 'x' }, { path: 'a', body: Buffer.alloc(4_000_000, 'abc') })],
  ['while a file is being opened', createTar({ path: 'a', body: Buffer.alloc(4_000_000, 'abc'), mode: 0o4755 })],
])(
  'unpackArchive rejects with the reason of the abort and leaves no files if it is aborted %s',
  async (_, unpacked) => {
    const path = join(folder, 'archive');
    const aborting = new AbortController();
    const output = () => aborting.abort(new Error('enough'));
    const packed = gzipSync(unpacked);
    await writeFile(path, packed);
    const unpacking = unpackArchive({ path, bytes: packed.length }, join(folder, 'tree'), {
      output,
      signal: aborting.signal,
      removeTree,
      requireSpace: () => undefined,
    });
    await expect(unpacking).rejects.toThrow('enough');
    expect(await readdir(folder)).toEqual(['archive']);
  },
);
