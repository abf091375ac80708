import { chmod, chown, lchown, link, lstat, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeAsRoot } from '../../../test/root.ts';
import { createTestDirectory } from '../../../test/test-directory.ts';
import { chownTree } from './copy-project.ts';
import { protectDirectoryTree } from './protect-directory-tree.ts';

const builder = { uid: 61_500, gid: 61_600, signal: new AbortController().signal };

describeAsRoot('protectDirectoryTree', () => {
  const open = async () => {
    const root = await createTestDirectory();
    await mkdir(join(root, 'tree/inner'), { recursive: true });
    await writeFile(join(root, 'tree/inner/file'), 'made');
    await symlink('/etc/passwd', join(root, 'tree/link'));
    await writeFile(join(root, 'ours'), 'ours', { mode: 0o600 });
    await chownTree(join(root, 'tree'), builder.uid, builder.gid);
    return root;
  };
  const describeEntry = async (path: string) => {
    const { uid, gid, mode } = await lstat(path);
    return [uid, gid, (mode & 0o7777).toString(8)];
  };

  it('gives all entries to root and the given group, sets mode 750, and does not follow links', async () => {
    const root = await open();
    await chmod(join(root, 'tree/inner'), 0o7777);
    await chmod(join(root, 'tree/inner/file'), 0o4755);
    await protectDirectoryTree(join(root, 'tree'), builder);
    expect(await describeEntry(join(root, 'tree/inner'))).toEqual([0, builder.gid, '750']);
    expect(await describeEntry(join(root, 'tree/inner/file'))).toEqual([0, builder.gid, '750']);
    expect((await describeEntry(join(root, 'tree/link'))).slice(0, 2)).toEqual([0, builder.gid]);
    expect((await describeEntry('/etc/passwd')).slice(0, 2)).toEqual([0, 0]);
  });

  it.each([
    ['a file of another account', (path: string) => chown(path, 12_345, 12_345)],
    [
      'a symbolic link of another account',
      (path: string) =>
        rm(path)
          .then(() => symlink('x', path))
          .then(() => lchown(path, 12_345, 12_345)),
    ],
    ['a hard link to a file of root', (path: string) => rm(path).then(() => link(join(path, '../../../ours'), path))],
  ])('rejects a tree with %s', async (_, change) => {
    const root = await open();
    await change(join(root, 'tree/inner/file'));
    await expect(protectDirectoryTree(join(root, 'tree'), builder)).rejects.toThrow(/The build .*inner\/file/);
    expect(await describeEntry(join(root, 'ours'))).toEqual([0, 0, '600']);
  });
});
