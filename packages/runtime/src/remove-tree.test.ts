import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { removeHostileDirectoryTrees } from '../test/hostile-tree-scenario.ts';
import { testAsRoot } from '../test/root.ts';
import { openTreeRemover } from './remove-tree.ts';

async function openRoot() {
  const root = await mkdtemp(join(tmpdir(), 'bothost-remove-'));
  onTestFinished(() => removeHostileDirectoryTrees(root));
  const quarantineDirectory = join(root, 'quarantine');
  const reports: object[] = [];
  const logger = { error: (fields: object, message: string) => void reports.push({ ...fields, message }) };
  const open = () => openTreeRemover({ quarantineDirectory, logger });
  return { root, quarantineDirectory, open, reports };
}

describe('removeTree', () => {
  it('removes files, links and trees, but not the targets of links', async () => {
    const { root, quarantineDirectory, open, reports } = await openRoot();
    await mkdir(join(root, 'kept'));
    await writeFile(join(root, 'kept/file'), '');
    await mkdir(join(root, 'tree/locked/inner'), { recursive: true });
    await symlink(join(root, 'kept'), join(root, 'tree/link'));
    await symlink(join(root, 'kept'), join(root, 'link'));
    await writeFile(join(root, 'file'), '');
    await chmod(join(root, 'tree/locked'), 0);
    const removeTree = open();
    for (const name of ['tree', 'link', 'file', 'missing']) expect(await removeTree(join(root, name))).toBe(true);
    expect((await readdir(root)).sort()).toEqual(['kept', 'quarantine']);
    expect(await readdir(join(root, 'kept'))).toEqual(['file']);
    await expect.poll(() => readdir(quarantineDirectory)).toEqual([]);
    expect(reports).toEqual([]);
  });

  it('gives only the user of the service access to the quarantine directory', async () => {
    const { quarantineDirectory, open } = await openRoot();
    open();
    expect((await stat(quarantineDirectory)).mode & 0o777).toBe(0o700);
  });

  it('removes trees that a previous server process left in the quarantine directory', async () => {
    const { quarantineDirectory, open } = await openRoot();
    await mkdir(join(quarantineDirectory, 'earlier/inner'), { recursive: true });
    open();
    await expect.poll(() => readdir(quarantineDirectory)).toEqual([]);
  });

  testAsRoot('reports a path that it cannot delete, with the reason, and tries again after a restart', async () => {
    const { root, quarantineDirectory, open, reports } = await openRoot();
    await mkdir(join(root, 'tree'));
    await writeFile(join(root, 'tree/file'), '');
    execFileSync('chattr', ['+i', join(root, 'tree/file')]);
    expect(await open()(join(root, 'tree'))).toBe(true);
    const [name = ''] = await readdir(quarantineDirectory);
    const path = join(quarantineDirectory, name);
    expect(name).toMatch(/^tree\./);
    const reason = expect.stringContaining('Operation not permitted');
    await expect
      .poll(() => reports)
      .toEqual([{ message: 'directory tree quarantined', from: join(root, 'tree'), path, reason }]);
    execFileSync('chattr', ['-i', join(path, 'file')]);
    open();
    await expect.poll(() => existsSync(path)).toBe(false);
  });

  testAsRoot('does not move a mount point, but denies access to it and reports it once', async () => {
    const { root, open, reports } = await openRoot();
    const path = join(root, 'mounted');
    await mkdir(path);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=0777', 'tmpfs', path]);
    await writeFile(join(path, 'file'), '');
    const removeTree = open();
    expect([await removeTree(path), await removeTree(path)]).toEqual([false, false]);
    const reason = `a file system is mounted at ${path}`;
    await expect
      .poll(() => reports)
      .toEqual([{ message: 'directory tree could not be removed', from: path, path, reason }]);
    expect(await readdir(path)).toEqual(['file']);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  testAsRoot(
    'removes a tree on another file system, which it cannot rename into the quarantine directory',
    async () => {
      const { root, open, reports } = await openRoot();
      const path = join(root, 'disk/tree');
      await mkdir(join(root, 'disk'));
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(root, 'disk')]);
      await mkdir(join(path, 'inner'), { recursive: true });
      await open()(path);
      await expect.poll(() => existsSync(path)).toBe(false);
      expect(reports).toEqual([]);
    },
  );
});
