import { chmod, chown, lchown, link, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { handOver } from './copy-project.ts';
import { sealTree } from './seal.ts';

const BUILDER = { uid: 61_500, gid: 61_600, signal: new AbortController().signal };

describe.runIf(process.geteuid?.() === 0)('a tree that an account built', () => {
  const open = async () => {
    const root = await mkdtemp(join(tmpdir(), 'bothost-seal-'));
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    await mkdir(join(root, 'tree/inner'), { recursive: true });
    await writeFile(join(root, 'tree/inner/file'), 'made');
    await symlink('/etc/passwd', join(root, 'tree/link'));
    await writeFile(join(root, 'ours'), 'ours', { mode: 0o600 });
    await handOver(join(root, 'tree'), BUILDER.uid, BUILDER.gid);
    return root;
  };
  const describeEntry = async (path: string) => {
    const { uid, gid, mode } = await lstat(path);
    return [uid, gid, (mode & 0o7777).toString(8)];
  };

  it('is root’s afterwards, for its group to read, and links lead nowhere for root', async () => {
    const root = await open();
    await chmod(join(root, 'tree/inner'), 0o7777);
    await chmod(join(root, 'tree/inner/file'), 0o4755);
    await sealTree(join(root, 'tree'), BUILDER);
    expect(await describeEntry(join(root, 'tree/inner'))).toEqual([0, BUILDER.gid, '750']);
    expect(await describeEntry(join(root, 'tree/inner/file'))).toEqual([0, BUILDER.gid, '750']);
    expect((await describeEntry(join(root, 'tree/link'))).slice(0, 2)).toEqual([0, BUILDER.gid]);
    expect((await describeEntry('/etc/passwd')).slice(0, 2)).toEqual([0, 0]);
  });

  it.each([
    ['belongs to somebody else', (path: string) => chown(path, 12_345, 12_345)],
    [
      'belongs to somebody else, by a link',
      (path: string) =>
        rm(path)
          .then(() => symlink('x', path))
          .then(() => lchown(path, 12_345, 12_345)),
    ],
    [
      'is a second name of a file that is not its own',
      (path: string) => rm(path).then(() => link(join(path, '../../../ours'), path)),
    ],
  ])('is refused when something in it %s', async (_, change) => {
    const root = await open();
    await change(join(root, 'tree/inner/file'));
    await expect(sealTree(join(root, 'tree'), BUILDER)).rejects.toThrow(/The build left .*inner\/file/);
    expect(await describeEntry(join(root, 'ours'))).toEqual([0, 0, '600']);
  });
});
