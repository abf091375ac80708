import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deploymentFileLimits } from '@bothost/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestDirectory } from '../../../runtime/test/test-directory.ts';
import { createArchive } from '../../test/support/archive.ts';
import { listArchiveFiles, readArchiveFile } from './archive-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await createTestDirectory();
});

const { signal } = new AbortController();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

async function store(bytes: Buffer) {
  const path = join(folder, 'archive');
  await writeFile(path, bytes);
  return { path, bytes: bytes.length };
}

const project = createArchive(
  { path: './src/', type: 'Directory' },
  { path: './src/bot.py', body: 'print(1)\n' },
  { path: 'same.py', type: 'Link', linkpath: 'src/bot.py' },
  { path: 'again.py', type: 'Link', linkpath: 'same.py' },
  { path: 'current', type: 'SymbolicLink', linkpath: 'src/bot.py' },
  { path: '.env', body: 'KEY=secret' },
  { path: 'a/.env.local', body: 'KEY=secret' },
  { path: 'copy', type: 'Link', linkpath: '.env' },
  { path: 'copy-of-copy', type: 'Link', linkpath: 'copy' },
);

describe('listArchiveFiles', () => {
  it('lists files and links by path with their hashes, without the files that a build leaves out', async () => {
    expect(await listArchiveFiles(await store(project), signal)).toEqual([
      { path: 'again.py', sizeBytes: 9, sha256: sha256('print(1)\n') },
      { path: 'current', sizeBytes: 10, sha256: sha256('src/bot.py') },
      { path: 'same.py', sizeBytes: 9, sha256: sha256('print(1)\n') },
      { path: 'src/bot.py', sizeBytes: 9, sha256: sha256('print(1)\n') },
    ]);
  });

  it.each([
    ['files', { body: '' }],
    ['hard links', { type: 'Link', linkpath: 'src/bot.py' }],
  ] as const)('refuses a project with too many %s', async (_, entry) => {
    const entries = Array.from({ length: deploymentFileLimits.files }, (_, index) => ({ path: `f${index}`, ...entry }));
    const archive = await store(createArchive({ path: 'src/bot.py', body: '' }, ...entries));
    await expect(listArchiveFiles(archive, signal)).rejects.toMatchObject({ problem: 'archive-too-many-files' });
  });

  it('refuses an archive that is too large', async () => {
    const large = { ...(await store(project)), bytes: deploymentFileLimits.archiveBytes + 1 };
    await expect(listArchiveFiles(large, signal)).rejects.toMatchObject({ problem: 'archive-too-large-unpacked' });
  });

  it('stops when its signal aborts', async () => {
    await expect(listArchiveFiles(await store(project), AbortSignal.abort())).rejects.toThrow('aborted');
  });
});

describe('readArchiveFile', () => {
  it.each([
    ['src/bot.py', 'print(1)\n'],
    ['same.py', 'print(1)\n'],
    ['again.py', 'print(1)\n'],
    ['current', 'src/bot.py'],
  ])('reads %s', async (path, content) => {
    expect(String(await readArchiveFile(await store(project), path, signal))).toBe(content);
  });

  it.each(['.env', 'copy', 'copy-of-copy', 'a/.env.local', 'missing', '../archive', 'src'])(
    'does not find %s',
    async (path) => {
      expect(await readArchiveFile(await store(project), path, signal)).toBeNull();
    },
  );

  it('reads a file of the largest size that is shown, and refuses a larger one', async () => {
    const { textBytes } = deploymentFileLimits;
    const archive = await store(
      createArchive({ path: 'most', body: 'a'.repeat(textBytes) }, { path: 'more', body: 'a'.repeat(textBytes + 1) }),
    );
    expect(await readArchiveFile(archive, 'most', signal)).toHaveLength(textBytes);
    expect(await readArchiveFile(archive, 'more', signal)).toBe('too-large');
  });
});
