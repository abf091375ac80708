import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { removeTree } from './remove-tree.ts';

it('removes what was made unreadable, and nothing that links lead to', async () => {
  const root = await mkdtemp(join(tmpdir(), 'bothost-tree-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await mkdir(join(root, 'kept'));
  await writeFile(join(root, 'kept/file'), '');
  await mkdir(join(root, 'tree/locked/inner'), { recursive: true });
  await writeFile(join(root, 'tree/locked/inner/file'), '');
  await symlink(join(root, 'kept'), join(root, 'tree/link'));
  await chmod(join(root, 'tree/locked'), 0);
  await removeTree(join(root, 'tree'));
  await removeTree(join(root, 'tree'));
  expect(await readdir(root)).toEqual(['kept']);
  expect(await readdir(join(root, 'kept'))).toEqual(['file']);
  await symlink(join(root, 'kept'), join(root, 'link'));
  await removeTree(join(root, 'link'));
  expect(await readdir(join(root, 'kept'))).toEqual(['file']);
});
