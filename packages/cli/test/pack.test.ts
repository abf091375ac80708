import { once } from 'node:events';
import { appendFile, chmod, link, mkdir, mkdtemp, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { listProject, type ProjectFile, writeArchive } from '@bothost/packing';
import { list } from 'tar';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { diskFolder } from '../src/pack/disk-folder.ts';

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
  const { files, excluded } = await listProject(diskFolder(root, root), patterns);
  return {
    files: files.map(({ path }) => path),
    excluded: Object.fromEntries(excluded.map(({ path, reason }) => [path, reason])),
  };
}

async function writeTo(file: string, files: readonly ProjectFile[]) {
  await rm(file, { force: true });
  return writeArchive(files, (chunk) => appendFile(file, chunk));
}

async function pack(name = 'project.tar.gz') {
  const { files } = await listProject(diskFolder(root, root), []);
  const file = join(directory, name);
  return { file, ...(await writeTo(file, files)) };
}

test('listProject excludes secrets, generated files and version control, with the reason', async () => {
  await put({
    'bot.py': 'x',
    'src/voice.py': 'x',
    '.env': 'KEY=1',
    'src/.env.local': 'KEY=1',
    'deploy.toml': '',
    '.git/HEAD': 'ref',
    'node_modules/a/index.js': '1234',
    'src/__pycache__/voice.pyc': 'x',
    'server.pem': 'x',
    '.gitignore': '*.wav\n!keep.wav\n',
    'long.wav': 'x',
    'keep.wav': 'x',
    'notes/todo.md': 'x',
  });
  expect(await listFiles(['*.md'])).toEqual({
    files: ['bot.py', 'keep.wav', 'src/voice.py'],
    excluded: {
      '.env': 'always',
      'src/.env.local': 'always',
      'deploy.toml': 'always',
      '.git': 'always',
      node_modules: 'by default',
      'src/__pycache__': 'by default',
      'server.pem': 'by default',
      '.gitignore': 'by default',
      'long.wav': '.gitignore',
      'notes/todo.md': '[build.exclude] of the deploy file',
    },
  });
});

test('listProject combines .gitignore files of nested directories as git does', async () => {
  await put({
    '.gitignore': '/out/\n*.log\nbuild/\n# no pattern\n\n',
    'out/a': '',
    'sub/out/a': '',
    'sub [1]/.gitignore': '!kept.log\n/here.txt\ndeep/x.txt\n\\#odd\n!build/\n',
    'sub [1]/kept.log': '',
    'sub [1]/ignored.log': '',
    'sub [1]/here.txt': '',
    'sub [1]/a/here.txt': '',
    'sub [1]/deep/x.txt': '',
    'sub [1]/a/deep/x.txt': '',
    'sub [1]/#odd': '',
    'sub [1]/build/made.txt': '',
    'sub 1/here.txt': '',
  });
  expect((await listFiles()).files).toEqual([
    'sub 1/here.txt',
    'sub [1]/a/deep/x.txt',
    'sub [1]/a/here.txt',
    'sub [1]/build/made.txt',
    'sub [1]/kept.log',
    'sub/out/a',
  ]);
});

test('listProject uses .dockerignore instead of the defaults and .gitignore, but never includes .env', async () => {
  await put({
    '.dockerignore': '*\n!src\n!node_modules/kept\n!.env\n.dockerignore\n',
    '.gitignore': 'src/\n',
    'src/bot.js': '',
    'node_modules/kept/a.js': '',
    'node_modules/other/a.js': '',
    '.env': 'KEY=1',
    'a.md': '',
  });
  expect(await listFiles(['*.tmp'])).toMatchObject({
    files: ['node_modules/kept/a.js', 'src/bot.js'],
    excluded: { '.env': 'always', 'a.md': '.dockerignore' },
  });
});

test('listProject includes files that the deploy file exempts from the default exclusions', async () => {
  await put({ 'dist/bot.js': '', 'build/x': '' });
  expect((await listFiles(['!dist/'])).files).toEqual(['dist/bot.js']);
});

test('listProject names the line of an invalid .dockerignore pattern', async () => {
  await put({ '.dockerignore': 'a[\n' });
  await expect(listFiles()).rejects.toMatchObject({ message: '.dockerignore: line 1 is not a valid pattern: a[.' });
});

test('listProject counts the files and bytes of an excluded directory', async () => {
  await put({ 'node_modules/a/1.js': '12345', 'node_modules/b/2.js': '1' });
  const { excluded } = await listProject(diskFolder(root, root), []);
  expect(excluded).toEqual([{ path: 'node_modules', reason: 'by default', files: 2, bytes: 6, isWhole: true }]);
});

test('listProject reports all links out of the project and special files at once', async () => {
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
  expect((await listFiles(['/absolute', 'outwards', 'pipe', 'node_modules'])).files).toEqual([
    'bot.js',
    'dangling',
    'inwards',
    'sub/a.txt',
  ]);
  pipe.close();
});

test('listProject rejects file names that are not UTF-8 unless they are excluded, and escapes them in the error', async () => {
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

test('listProject refuses a link that leaves the project through another link', async () => {
  await mkdir(join(directory, 'outside/deep'), { recursive: true });
  await put({ 'bot.js': '', 'a/b/x': '' });
  await symlink('a/b', join(root, 'short'));
  // The target is inside the project by its path, but the kernel resolves the link `short` first, which leads outside.
  await symlink('short/../../../outside', join(root, 'indirect'));
  await expect(listFiles()).rejects.toMatchObject({ issues: [expect.objectContaining({ path: 'indirect' })] });
});

test('writeArchive writes identical archives for equal content with other times, modes and hard links', async () => {
  const long = `${'long/'.repeat(40)}name.txt`;
  await put({ 'b.js': 'b', 'a.js': 'a', 'ä.txt': 'ä', [long]: 'x', 'run.sh': '#!' });
  const first = await pack('first');
  await utimes(join(root, 'a.js'), 1, 1);
  await chmod(join(root, 'a.js'), 0o600);
  await chmod(join(root, 'run.sh'), 0o711);
  await rm(join(root, 'b.js'));
  await link(join(root, 'a.js'), join(root, 'c.js'));
  await put({ 'b.js': 'b' });
  await writeFile(join(root, '.gitignore'), 'c.js\n');
  expect(await pack('second')).toEqual({ ...first, file: join(directory, 'second') });

  const entries: unknown[] = [];
  const onReadEntry = (entry: { path: string; mode?: number; uid?: number; mtime?: Date }) => {
    entries.push([entry.path, entry.mode, entry.uid, entry.mtime?.getTime()]);
  };
  await list({ file: first.file, onReadEntry });
  expect(entries).toEqual([
    ['a.js', 0o644, 0, 0],
    ['b.js', 0o644, 0, 0],
    [long, 0o644, 0, 0],
    ['run.sh', 0o755, 0, 0],
    ['ä.txt', 0o644, 0, 0],
  ]);
  await put({ 'a.js': 'changed' });
  expect((await pack('third')).contentHash).not.toBe(first.contentHash);
});

test.each([0, 10])(
  'writeArchive rejects a file that changed from three to %i bytes after the listing',
  async (size) => {
    await put({ 'a.js': 'abc' });
    const { files } = await listProject(diskFolder(root, root), []);
    await truncate(join(root, 'a.js'), size);
    await expect(writeTo(join(directory, 'x'), files)).rejects.toMatchObject({
      message: 'a.js changed while it was being packed.',
    });
  },
);

test('writeArchive rejects a file that was deleted after the listing, and names it', async () => {
  await put({ 'a.js': 'abc' });
  const { files } = await listProject(diskFolder(root, root), []);
  await rm(join(root, 'a.js'));
  await expect(writeTo(join(directory, 'x'), files)).rejects.toMatchObject({
    message: 'Cannot read a.js (ENOENT).',
  });
});
