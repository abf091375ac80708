import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createConversationFiles, readConversationFile } from './conversation-files.ts';

function openTestFile() {
  const directory = mkdtempSync(join(tmpdir(), 'bothost-conversation-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'lines');
  const identity = createConversationFiles({ lines: path, recording: join(directory, 'recording') }, null).lines;
  writeFileSync(join(directory, 'secret'), 'secret of the service\n');
  return { directory, path, read: (offset = 0, bytes = 100) => readConversationFile(path, identity, offset, bytes) };
}

it('readConversationFile reads what the bot has appended from an offset, up to a number of bytes', () => {
  const { path, read } = openTestFile();
  expect(read()).toEqual({ kind: 'bytes', bytes: Buffer.alloc(0), fileBytes: 0 });
  appendFileSync(path, 'one\ntwo\n');
  expect(read(4, 2)).toEqual({ kind: 'bytes', bytes: Buffer.from('tw'), fileBytes: 8 });
  expect(read(8)).toEqual({ kind: 'bytes', bytes: Buffer.alloc(0), fileBytes: 8 });
  truncateSync(path, 2);
  expect(read(8)).toMatchObject({ kind: 'bytes', fileBytes: 2 });
});

it.each<[string, (path: string, directory: string) => void]>([
  ['a symbolic link', (path, directory) => symlinkSync(join(directory, 'secret'), path)],
  ['a hard link to another file', (path, directory) => linkSync(join(directory, 'secret'), path)],
  ['a FIFO', (path) => execFileSync('mkfifo', [path])],
  ['a directory', (path) => mkdirSync(path)],
  ['another file', (path) => writeFileSync(path, 'other')],
  ['nothing', () => undefined],
])('readConversationFile reads nothing if the bot replaces the file by %s', (_what, replace) => {
  const { path, directory, read } = openTestFile();
  appendFileSync(path, 'one\n');
  renameSync(path, join(directory, 'moved'));
  replace(path, directory);
  expect(read()).toEqual({ kind: 'replaced' });
});

it('readConversationFile reads nothing while the file has a second name', () => {
  const { path, directory, read } = openTestFile();
  appendFileSync(path, 'one\n');
  linkSync(path, join(directory, 'second'));
  expect(read()).toEqual({ kind: 'replaced' });
  unlinkSync(join(directory, 'second'));
  expect(read()).toMatchObject({ kind: 'bytes', fileBytes: 4 });
});
