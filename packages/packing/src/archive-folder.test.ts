import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { packTar, type TarEntry } from 'modern-tar';
import { expect, test } from 'vitest';
import { createSha256 } from '../test/sha256.ts';
import { hashFiles, packFiles } from './archive.ts';
import { readArchiveAsFolder } from './archive-folder.ts';
import { readTextFile } from './folder.ts';
import { listProjectFiles } from './project-files.ts';

const file = (name: string, body: string): TarEntry => ({
  header: { name, size: Buffer.byteLength(body), type: 'file' },
  body,
});
const link = (name: string, linkname: string, type: 'link' | 'symlink' = 'symlink'): TarEntry => ({
  header: { name, size: 0, type, linkname },
});

async function readFolder(...entries: readonly TarEntry[]) {
  const archive = new Blob([new Uint8Array(gzipSync(await packTar(entries)))]);
  return readArchiveAsFolder(archive.stream());
}

async function pack(...entries: readonly TarEntry[]) {
  const { files } = await listProjectFiles(await readFolder(...entries), []);
  const contentHash = await hashFiles(files, createSha256());
  const tar = await buffer(packFiles(files, contentHash, createSha256()));
  return { contentHash, paths: files.map(({ path }) => path), blob: new Blob([new Uint8Array(gzipSync(tar))]) };
}

test('readArchiveAsFolder returns the same files for an archive with and without a top-level directory', async () => {
  const long = `${'long/'.repeat(40)}name.txt`;
  const packed = await pack(file('./bot.js', 'x'), file(`./${long}`, 'ä'), link('./short', 'bot.js'));
  expect(packed.paths).toEqual(['bot.js', long, 'short']);
  const wrapped = await pack(link('bot/short', 'bot.js'), file(`bot/${long}`, 'ä'), file('bot/bot.js', 'x'));
  expect(wrapped.contentHash).toBe(packed.contentHash);
  const { files } = await listProjectFiles(await readArchiveAsFolder(packed.blob.stream()), []);
  expect(await hashFiles(files, createSha256())).toBe(packed.contentHash);
});

test('readArchiveAsFolder returns the content of the target for a hard link and a symbolic link', async () => {
  const folder = await readFolder(file('a', 'text'), link('b', 'a', 'link'), link('c', './a'));
  const entries = await folder.list();
  expect(await Promise.all(['b', 'c'].map((name) => readTextFile(entries, name)))).toEqual(['text', 'text']);
});

test('listProjectFiles rejects an archive with special files or with links out of the project', async () => {
  const entries = [
    link('absolute', '/etc/passwd'),
    link('d/outwards', '../../x'),
    { header: { name: 'pipe', size: 0, type: 'fifo' as const } },
  ];
  await expect(pack(...entries)).rejects.toMatchObject({
    issues: [
      { path: 'absolute', message: 'is a link to an absolute path, /etc/passwd' },
      { path: 'd/outwards', message: 'is a link out of the project, to ../../x' },
      { path: 'pipe', message: 'is not a file, directory or link' },
    ],
  });
});

test.each([
  ['a path out of the archive', [file('../x', '')], 'The path ../x leads out of the archive.'],
  ['a hard link to a missing file', [link('a', 'b', 'link')], 'a is a hard link to b'],
])('readArchiveAsFolder rejects an archive with %s', async (_, entries, problem) => {
  await expect(readFolder(...entries)).rejects.toMatchObject({
    reason: 'project-unpackable',
    message: expect.stringContaining(problem),
  });
});

test('readArchiveAsFolder rejects a file that is not an archive, and says how to create an archive', async () => {
  await expect(readArchiveAsFolder(new Blob(['PK']).stream())).rejects.toMatchObject({
    message: 'The archive cannot be read. It is damaged, or not a tar.gz archive.',
    hint: expect.stringContaining('tar -czf'),
  });
});
