import { once } from 'node:events';
import { chmod, link, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { listProjectFiles, readProject } from '@bothost/packing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDiskFolder } from './disk-folder.ts';
import { createSha256 } from './pack-project.ts';

let directory: string;
let root: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-pack-'));
  root = join(directory, 'project');
  await mkdir(root);
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function listFiles(patterns: readonly string[] = []) {
  const { files } = await listProjectFiles(openDiskFolder(root, root), patterns);
  return files;
}

async function hashProject() {
  return (await readProject(openDiskFolder(root, root), [], createSha256(), () => {})).contentHash;
}

test('openDiskFolder reports all links out of the project and special files in one error, unless they are excluded', async () => {
  await put({ 'bot.js': '', 'sub/a.txt': '' });
  await symlink('/etc/passwd', join(root, 'absolute'));
  await symlink('../../secret', join(root, 'sub/outwards'));
  await symlink('sub', join(root, 'inwards'));
  await symlink('nothing', join(root, 'dangling'));
  await symlink('../outside', join(root, 'node_modules'));
  const pipe = createServer().listen(join(root, 'pipe'));
  await once(pipe, 'listening');
  await expect(listFiles(['node_modules'])).rejects.toMatchObject({
    reason: 'project-unpackable',
    issues: expect.arrayContaining([
      { path: 'absolute', message: 'is a link to an absolute path, /etc/passwd' },
      { path: 'sub/outwards', message: 'is a link out of the project, to ../../secret' },
      { path: 'pipe', message: 'is not a file, directory or link' },
    ]),
  });
  const files = await listFiles(['/absolute', 'outwards', 'pipe', 'node_modules']);
  expect(files.map(({ path }) => path)).toEqual(['bot.js', 'dangling', 'inwards', 'sub/a.txt']);
  pipe.close();
});

test('openDiskFolder rejects file names that are not UTF-8 unless they are excluded, and escapes them in the error', async () => {
  await put({ 'bot.py': 'x', 'src/keep.py': 'x' });
  const bytes = (name: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);
  for (const name of ['src/caf\xe9.py', 'old\xff.pyc']) await writeFile(bytes(name), 'x');
  await mkdir(bytes('d\xe9'));
  await expect(listFiles()).rejects.toMatchObject({
    reason: 'project-unpackable',
    issues: expect.arrayContaining([
      { path: 'd\\xe9', message: 'has a name that is not UTF-8; rename it' },
      { path: 'src/caf\\xe9.py', message: 'has a name that is not UTF-8; rename it' },
    ]),
  });
});

test('openDiskFolder refuses a link that leaves the project through another link', async () => {
  await mkdir(join(directory, 'outside/deep'), { recursive: true });
  await put({ 'bot.js': '', 'a/b/x': '' });
  await symlink('a/b', join(root, 'short'));
  // As text, the target `short/../../../outside` is inside the project, but the kernel resolves the link `short` first, so the
  // target is outside.
  await symlink('short/../../../outside', join(root, 'indirect'));
  await expect(listFiles()).rejects.toMatchObject({ issues: [expect.objectContaining({ path: 'indirect' })] });
});

test('readProject returns the same content hash for equal content with different times, modes and hard links', async () => {
  await put({ 'b.js': 'b', 'a.js': 'a', 'run.sh': '#!' });
  const first = await hashProject();
  await utimes(join(root, 'a.js'), 1, 1);
  await chmod(join(root, 'a.js'), 0o600);
  await chmod(join(root, 'run.sh'), 0o711);
  await rm(join(root, 'b.js'));
  await link(join(root, 'a.js'), join(root, 'c.js'));
  await put({ 'b.js': 'b', '.gitignore': 'c.js\n' });
  expect(await hashProject()).toBe(first);
  await put({ 'a.js': 'changed' });
  expect(await hashProject()).not.toBe(first);
});

test('openDiskFolder names a file that was deleted after the listing', async () => {
  await put({ 'a.js': 'abc' });
  const [file] = await listFiles();
  await rm(join(root, 'a.js'));
  await expect(text(Readable.from(file?.read() ?? []))).rejects.toMatchObject({
    message: 'Cannot read a.js (ENOENT).',
  });
});
