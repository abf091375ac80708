import { expect, test } from 'vitest';
import { createMemoryFolder } from '../test/memory-folder.ts';
import { listProjectFiles, type ProjectFile } from './project-files.ts';
import { findProjectWarnings } from './warnings.ts';

const createFile = (path: string, size: number): ProjectFile => ({
  path,
  size,
  link: null,
  read: async function* () {},
});
const createLink = (path: string, target: string): ProjectFile => ({
  ...createFile(path, 0),
  link: { target, projectPath: target },
});
const mebibyte = 1_048_576;

test('findProjectWarnings warns about links to paths that are not packed', async () => {
  const files = [createFile('src/bot.js', 1), createLink('file', 'src/bot.js'), createLink('folder', 'src')];
  expect(await findProjectWarnings({ files, excluded: [], unmatchedPatterns: [] })).toEqual([]);
  expect(
    await findProjectWarnings({
      files: [...files, createLink('latest', 'dist/bot.js')],
      excluded: [],
      unmatchedPatterns: [],
    }),
  ).toEqual(['latest is a link to dist/bot.js, which is not packed.']);
});

test('findProjectWarnings names each pattern of [build.exclude] that has no effect', async () => {
  const texts = { 'data/calls.csv': 'x', 'notes/a.md': 'x', '.dockerignore': '' };
  const patterns = ['./data', 'notes', '!notes/a.md', './dat', '../data', '/srv/data', '!kept.md', ' ', '.'];
  const warnings = await findProjectWarnings(await listProjectFiles(createMemoryFolder(texts), patterns));
  expect(warnings.map((warning) => /^The pattern "(.*)" below .* has no effect/.exec(warning)?.[1])).toEqual([
    '!notes/a.md',
    './dat',
    '../data',
    '/srv/data',
    '!kept.md',
    ' ',
    '.',
  ]);
});

test('findProjectWarnings names five large files and counts the others', async () => {
  const files = Array.from({ length: 7 }, (_, index) => createFile(`${index}.bin`, 21 * mebibyte));
  const warnings = await findProjectWarnings({ files, excluded: [], unmatchedPatterns: [] });
  expect(warnings).toHaveLength(6);
  expect(warnings[0]).toBe('0.bin is large (21.0 MiB). To exclude it, use [build.exclude] in the deploy file.');
  expect(warnings.at(-1)).toBe('2 more files have at least 20.0 MiB.');
});

test('findProjectWarnings reports an excluded main file of package.json and an unused Dockerfile', async () => {
  const texts = { 'package.json': '{"main": "./dist/bot.js"}', 'dist/bot.js': 'x', Dockerfile: 'FROM x' };
  expect(await findProjectWarnings(await listProjectFiles(createMemoryFolder(texts), []))).toEqual([
    expect.stringMatching(/^dist\/bot\.js, the main file of package\.json, is excluded \(by default\)/),
    expect.stringMatching(/^The Dockerfile is not used/),
  ]);
});

test('findProjectWarnings ignores an invalid package.json', async () => {
  expect(await findProjectWarnings(await listProjectFiles(createMemoryFolder({ 'package.json': '{' }), []))).toEqual(
    [],
  );
});
