import { maxUploadBytes, unpackedArchiveLimits } from '@bothost/contract';
import { expect, test } from 'vitest';
import type { ProjectFile } from './project-files.ts';
import { checkArchiveSize, checkProjectSize } from './project-size.ts';

const createFile = (path: string, size: number): ProjectFile => ({
  path,
  size,
  link: null,
  read: async function* () {},
});
const { bytes: maxBytes, entries: maxEntries } = unpackedArchiveLimits;

test('checkProjectSize and checkArchiveSize accept a project at each limit of the service', () => {
  const files = [createFile('a', maxBytes)];
  expect(() => checkProjectSize(files)).not.toThrow();
  expect(() => checkArchiveSize(files, maxUploadBytes)).not.toThrow();
});

test.each([
  ['no files', [], 'The project has no files to pack.'],
  ['too many files', Array.from({ length: maxEntries + 1 }, () => createFile('a', 0)), `${maxEntries + 1} files`],
  ['too many bytes', [createFile('a', maxBytes), createFile('b', 1)], 'The project is '],
])('checkProjectSize rejects a project with %s', (_, files, message) => {
  expect(() => checkProjectSize(files)).toThrow(message);
});

test('checkArchiveSize rejects an archive that is too large, and names the largest files', () => {
  const files = [createFile('a', 1), createFile('b', 2)];
  expect(() => checkArchiveSize(files, maxUploadBytes + 1)).toThrow(
    expect.objectContaining({
      reason: 'project-too-large',
      issues: [
        { path: 'b', message: '2 B' },
        { path: 'a', message: '1 B' },
      ],
    }),
  );
});
