import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { unpackTar } from 'modern-tar';
import { expect, test } from 'vitest';
import { createSha256 } from '../test/sha256.ts';
import { hashFiles, packFiles } from './archive.ts';
import type { ProjectFile } from './project-files.ts';

function createFile(path: string, text: string, size = Buffer.byteLength(text)): ProjectFile {
  const read = async function* () {
    yield Buffer.from(text);
  };
  return { path, size, link: null, read };
}

async function pack(files: readonly ProjectFile[], contentHash: string): Promise<Buffer> {
  return buffer(packFiles(files, contentHash, createSha256()));
}

test('packFiles normalizes owner and time, and derives the file mode from the content', async () => {
  const long = `${'long/'.repeat(40)}name.txt`;
  const files = [createFile('a.js', 'a'), createFile(long, 'x'), createFile('run.sh', '#!'), createFile('ä.txt', 'ä')];
  const entries = await unpackTar(await pack(files, await hashFiles(files, createSha256())));
  expect(entries.map(({ header }) => [header.name, header.mode, header.uid, header.mtime?.getTime()])).toEqual([
    ['a.js', 0o644, 0, 0],
    [long, 0o644, 0, 0],
    ['run.sh', 0o755, 0, 0],
    ['ä.txt', 0o644, 0, 0],
  ]);
});

test('hashFiles returns the SHA-256 of the tar archive', async () => {
  const files = [createFile('a.js', 'a'), createFile('large', 'x'.repeat(200_000))];
  const contentHash = await hashFiles(files, createSha256());
  const tar = await pack(files, contentHash);
  expect(createHash('sha256').update(tar).digest('hex')).toBe(contentHash);
});

test('hashFiles returns different content hashes for different content of the same size', async () => {
  const hashOf = (text: string) => hashFiles([createFile('a.js', text)], createSha256());
  expect(await hashOf('a')).toBe(await hashOf('a'));
  expect(await hashOf('b')).not.toBe(await hashOf('a'));
});

test.each(['', '0123456789'])(
  'hashFiles and packFiles reject a file that had 3 bytes when it was listed and now contains "%s"',
  async (text) => {
    const files = [createFile('a.js', text, 3)];
    const problem = { message: 'a.js changed while the files were being read.' };
    await expect(hashFiles(files, createSha256())).rejects.toMatchObject(problem);
    await expect(pack(files, '')).rejects.toMatchObject(problem);
  },
);

test('packFiles rejects files that have changed since they were hashed', async () => {
  const contentHash = await hashFiles([createFile('a.js', 'a')], createSha256());
  await expect(pack([createFile('a.js', 'b')], contentHash)).rejects.toMatchObject({
    reason: 'project-changed',
    message: 'The project changed while the files were being read.',
  });
});

test('packFiles stops reading and closes the file when its caller stops', async () => {
  const chunks = 1_000;
  let read = 0;
  let isClosed = false;
  const chunk = Buffer.alloc(65_536);
  const file: ProjectFile = {
    path: 'large',
    size: chunks * chunk.length,
    link: null,
    read: async function* () {
      try {
        for (; read < chunks; read += 1) yield chunk;
      } finally {
        isClosed = true;
      }
    },
  };
  const blocks = packFiles([file], '', createSha256());
  await blocks.next();
  await blocks.return(undefined);
  await expect.poll(() => isClosed).toBe(true);
  expect(read).toBeLessThan(chunks);
});
