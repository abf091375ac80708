import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestDirectory } from '../test/test-directory.ts';
import { writeJsonAtomically } from './write-json-atomically.ts';

it('writeJsonAtomically stores values shorter and longer than a page, and leaves no temporary file', async () => {
  const directory = await createTestDirectory();
  const path = join(directory, 'value.json');
  const values = [{ a: 'é'.repeat(100) }, { a: 1 }, 'x'.repeat(4094), 'x'.repeat(4095), 'y'.repeat(20_000), null];
  for (const value of values) {
    writeJsonAtomically(path, value);
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(value);
  }
  expect(await readdir(directory)).toEqual(['value.json']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('writeJsonAtomically overwrites the file in place, with an unchanged inode, if the value fits into a page', async () => {
  const directory = await createTestDirectory();
  const path = join(directory, 'value.json');
  writeJsonAtomically(path, { state: 'starting' });
  const { ino } = await stat(path);
  writeJsonAtomically(path, { state: 'ready' });
  expect((await stat(path)).ino).toBe(ino);
});
