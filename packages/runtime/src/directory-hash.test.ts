import { chmod, mkdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestDirectory } from '../test/test-directory.ts';
import { hashDirectory } from './directory-hash.ts';

async function project() {
  const directory = await createTestDirectory();
  await mkdir(join(directory, 'lib'));
  await writeFile(join(directory, 'index.js'), 'one');
  await writeFile(join(directory, 'lib/other.js'), 'two');
  return directory;
}

it('hashDirectory ignores the path, the times, the read permissions, .git and .env of a project', async () => {
  const one = await project();
  const two = await project();
  await utimes(join(two, 'index.js'), 1, 1);
  await chmod(join(two, 'index.js'), 0o600);
  await mkdir(join(two, '.git'));
  await writeFile(join(two, '.git/HEAD'), 'ref');
  await writeFile(join(two, 'lib/.env'), 'KEY=value');
  await writeFile(join(two, 'lib/.env.local'), 'KEY=value');
  expect(await hashDirectory(two)).toBe(await hashDirectory(one));
  expect(await hashDirectory(one)).toMatch(/^[0-9a-f]{64}$/);
});

it.each<[string, (directory: string) => Promise<void>]>([
  ['the content of a file', (directory) => writeFile(join(directory, 'index.js'), 'other')],
  ['the name of a file', (directory) => rename(join(directory, 'index.js'), join(directory, 'main.js'))],
  ['the directory of a file', (directory) => rename(join(directory, 'lib/other.js'), join(directory, 'other.js'))],
  ['an empty directory', async (directory) => void (await mkdir(join(directory, 'empty')))],
  ['the executable bit', (directory) => chmod(join(directory, 'index.js'), 0o755)],
  ['a symbolic link', (directory) => symlink('index.js', join(directory, 'link.js'))],
])('hashDirectory returns a different hash after a change of %s', async (_, change) => {
  const directory = await project();
  const before = await hashDirectory(directory);
  await change(directory);
  expect(await hashDirectory(directory)).not.toBe(before);
});

it('hashDirectory rejects links to files outside the project', async () => {
  const directory = await project();
  await symlink('/etc', join(directory, 'lib/etc'));
  await expect(hashDirectory(directory)).rejects.toThrow('The link lib/etc leads out of the project (to /etc)');
});
