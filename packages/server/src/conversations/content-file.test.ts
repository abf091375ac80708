import { randomBytes } from 'node:crypto';
import { appendFile, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestDirectory } from '../../../runtime/test/test-directory.ts';
import { type ContentLocation, listFrameHeaders, readFrames, writeFrame } from './content-file.ts';

async function openTestContent(): Promise<ContentLocation> {
  const directory = await createTestDirectory();
  return { path: join(directory, 'agent', 'session'), key: randomBytes(32), sessionId: 's', kind: 'lines' };
}

const frame = (start: number, firstLine: number, text: string) => ({
  start,
  firstLine,
  lineCount: 1,
  position: { offset: 100 * firstLine, readBytes: 100 * firstLine },
  bytes: Buffer.from(text),
});

async function textsOf(content: ContentLocation, from = 0) {
  const texts: string[] = [];
  for await (const { bytes } of readFrames(content, from)) texts.push(bytes.toString());
  return texts;
}

it('readFrames reads the frames that writeFrame wrote, from the first or from a later one, and the file has no plain text', async () => {
  const content = await openTestContent();
  expect(await textsOf(content)).toEqual([]);
  const second = await writeFrame(content, frame(0, 0, 'the first line\n'));
  await writeFrame(content, frame(second, 1, 'the second line\n'));
  expect(await textsOf(content)).toEqual(['the first line\n', 'the second line\n']);
  expect(await textsOf(content, second)).toEqual(['the second line\n']);
  expect(await readFile(content.path, 'latin1')).not.toContain('line');
});

it('readFrames and listFrameHeaders read many small frames, and frames that are larger than what is read at once', async () => {
  const content = await openTestContent();
  const texts = [
    ...Array.from({ length: 500 }, (_, index) => `line ${index}\n`),
    'a'.repeat(300_000),
    'b'.repeat(65_480),
    'c',
  ];
  const ends: number[] = [];
  for (const [index, text] of texts.entries())
    ends.push(await writeFrame(content, frame(ends.at(-1) ?? 0, index, text)));
  expect(await textsOf(content)).toEqual(texts);
  expect(await textsOf(content, ends[498])).toEqual(texts.slice(499));
  expect((await listFrameHeaders(content)).map(({ end }) => end)).toEqual(ends);
});

it('readFrames ends before a frame that was only partly written, and writeFrame overwrites it', async () => {
  const content = await openTestContent();
  const second = await writeFrame(content, frame(0, 0, 'one\n'));
  await writeFrame(content, frame(second, 1, 'lost\n'.repeat(100)));
  await truncate(content.path, (await stat(content.path)).size - 1);
  expect(await textsOf(content)).toEqual(['one\n']);
  expect(await listFrameHeaders(content)).toMatchObject([{ start: 0, end: second }]);
  const end = await writeFrame(content, frame(second, 1, 'two\n'));
  expect((await stat(content.path)).size).toBe(end);
  await appendFile(content.path, randomBytes(100));
  expect(await textsOf(content)).toEqual(['one\n', 'two\n']);
});

it('readFrames reads nothing with another key, or as the content of another session or of another kind', async () => {
  const content = await openTestContent();
  await writeFrame(content, frame(0, 0, 'one\n'));
  expect(await textsOf({ ...content, key: randomBytes(32) })).toEqual([]);
  expect(await textsOf({ ...content, sessionId: 't' })).toEqual([]);
  expect(await textsOf({ ...content, kind: 'recording' })).toEqual([]);
});
