import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { expect, test } from 'vitest';
import { writeArchive } from './archive.ts';
import type { ProjectFile } from './project-files.ts';

function createFile(path: string, text: string, size = Buffer.byteLength(text)): ProjectFile {
  const read = async function* () {
    yield Buffer.from(text);
  };
  return { path, size, link: null, read };
}

test('writeArchive normalizes owner and time, and derives the file mode from the content', async () => {
  const long = `${'long/'.repeat(40)}name.txt`;
  const files = [createFile('a.js', 'a'), createFile(long, 'x'), createFile('run.sh', '#!'), createFile('ä.txt', 'ä')];
  const chunks: Uint8Array[] = [];
  await writeArchive(files, async (chunk) => void chunks.push(chunk));
  const entries = await unpackTar(gunzipSync(Buffer.concat(chunks)));
  expect(entries.map(({ header }) => [header.name, header.mode, header.uid, header.mtime?.getTime()])).toEqual([
    ['a.js', 0o644, 0, 0],
    [long, 0o644, 0, 0],
    ['run.sh', 0o755, 0, 0],
    ['ä.txt', 0o644, 0, 0],
  ]);
});

test('writeArchive returns different content hashes for different content of the same size', async () => {
  const hashOf = async (text: string) => (await writeArchive([createFile('a.js', text)], async () => {})).contentHash;
  expect(await hashOf('a')).toBe(await hashOf('a'));
  expect(await hashOf('b')).not.toBe(await hashOf('a'));
});

test.each(['', '0123456789'])(
  'writeArchive rejects a file that had 3 bytes when it was listed and now contains "%s"',
  async (text) => {
    await expect(writeArchive([createFile('a.js', text, 3)], async () => {})).rejects.toMatchObject({
      message: 'a.js changed while it was being packed.',
    });
  },
);
