import { once } from 'node:events';
import { chmod, link, mkdir, mkdtemp, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { list } from 'tar';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeArchive } from '../src/pack/archive.ts';
import { readRules } from '../src/pack/exclusion-rules.ts';
import { listProject } from '../src/pack/project-files.ts';

let place: string;
let root: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'botcli-pack-'));
  root = join(place, 'project');
  await mkdir(root);
});
afterEach(() => rm(place, { recursive: true, force: true }));

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

async function listed(patterns: readonly string[] = []) {
  const { files, excluded } = await listProject(root, await readRules(root, patterns));
  return {
    files: files.map(({ path }) => path),
    leftOut: Object.fromEntries(excluded.map(({ path, reason }) => [path, reason])),
  };
}

async function packed(name = 'project.tar.gz') {
  const { files } = await listProject(root, await readRules(root, []));
  return writeArchive(root, files, join(place, name), new AbortController().signal);
}

test('what is secret, made or of no use to the bot stays behind, with the reason', async () => {
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
  expect(await listed(['*.md'])).toEqual({
    files: ['bot.py', 'keep.wav', 'src/voice.py'],
    leftOut: {
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

test('the ignore files of folders add up as git has it', async () => {
  await put({
    '.gitignore': '/out/\n*.log\nbuild/\n# no pattern\n\n',
    'out/a': '',
    'sub/out/a': '',
    'sub [1]/.gitignore': '!kept.log\n/here.txt\ndeep/x.txt\n\\#odd\n!build/\n',
    'sub [1]/kept.log': '',
    'sub [1]/gone.log': '',
    'sub [1]/here.txt': '',
    'sub [1]/a/here.txt': '',
    'sub [1]/deep/x.txt': '',
    'sub [1]/a/deep/x.txt': '',
    'sub [1]/#odd': '',
    'sub [1]/build/made.txt': '',
    'sub 1/here.txt': '',
  });
  expect((await listed()).files).toEqual([
    'sub 1/here.txt',
    'sub [1]/a/deep/x.txt',
    'sub [1]/a/here.txt',
    'sub [1]/build/made.txt',
    'sub [1]/kept.log',
    'sub/out/a',
  ]);
});

test('a .dockerignore replaces defaults and .gitignore, but lets no .env along', async () => {
  await put({
    '.dockerignore': '*\n!src\n!node_modules/kept\n!.env\n.dockerignore\n',
    '.gitignore': 'src/\n',
    'src/bot.js': '',
    'node_modules/kept/a.js': '',
    'node_modules/other/a.js': '',
    '.env': 'KEY=1',
    'a.md': '',
  });
  expect(await listed(['*.tmp'])).toMatchObject({
    files: ['node_modules/kept/a.js', 'src/bot.js'],
    leftOut: { '.env': 'always', 'a.md': '.dockerignore' },
  });
});

test('a pattern of the deploy file takes back what the defaults leave out', async () => {
  await put({ 'dist/bot.js': '', 'build/x': '' });
  expect((await listed(['!dist/'])).files).toEqual(['dist/bot.js']);
});

test('a .dockerignore that cannot be read right is refused with its line', async () => {
  await put({ '.dockerignore': 'a[\n' });
  await expect(listed()).rejects.toMatchObject({ message: '.dockerignore: line 1 is not a valid pattern: a[.' });
});

test('what is left out is counted, as far as counting goes', async () => {
  await put({ 'node_modules/a/1.js': '12345', 'node_modules/b/2.js': '1' });
  const { excluded } = await listProject(root, await readRules(root, []));
  expect(excluded).toEqual([{ path: 'node_modules', reason: 'by default', files: 2, bytes: 6, isWhole: true }]);
});

test('links out of the project and special files are refused by name, all at once', async () => {
  await put({ 'bot.js': '', 'sub/a.txt': '' });
  await symlink('/etc/passwd', join(root, 'absolute'));
  await symlink('../../secret', join(root, 'sub/outwards'));
  await symlink('sub', join(root, 'inwards'));
  await symlink('nothing', join(root, 'dangling'));
  await symlink('../outside', join(root, 'node_modules'));
  const pipe = createServer().listen(join(root, 'pipe'));
  await once(pipe, 'listening');
  await expect(listed(['node_modules'])).rejects.toMatchObject({
    reason: 'project-unpackable',
    issues: expect.arrayContaining([
      { path: 'absolute', message: 'is a link to an absolute path, /etc/passwd' },
      { path: 'sub/outwards', message: 'is a link out of the project, to ../../secret' },
      { path: 'pipe', message: 'is not a file, folder or link' },
    ]),
  });
  expect((await listed(['/absolute', 'outwards', 'pipe', 'node_modules'])).files).toEqual([
    'bot.js',
    'dangling',
    'inwards',
    'sub/a.txt',
  ]);
  pipe.close();
});

test('a link whose way leads out through another link is refused', async () => {
  await mkdir(join(place, 'outside/deep'), { recursive: true });
  await put({ 'bot.js': '', 'a/b/x': '' });
  await symlink('a/b', join(root, 'short'));
  // On paper within the project; the system follows `short` first, and ends above it.
  await symlink('short/../../../outside', join(root, 'sly'));
  await expect(listed()).rejects.toMatchObject({ issues: [expect.objectContaining({ path: 'sly' })] });
});

test('equal content makes equal archives, whatever times, modes, hard links and order are', async () => {
  const long = `${'long/'.repeat(40)}name.txt`;
  await put({ 'b.js': 'b', 'a.js': 'a', 'ä.txt': 'ä', [long]: 'x', 'run.sh': '#!' });
  await chmod(join(root, 'run.sh'), 0o755);
  const first = await packed('first');
  await utimes(join(root, 'a.js'), 1, 1);
  await chmod(join(root, 'a.js'), 0o600);
  await chmod(join(root, 'run.sh'), 0o711);
  await rm(join(root, 'b.js'));
  await link(join(root, 'a.js'), join(root, 'c.js'));
  await put({ 'b.js': 'b' });
  await writeFile(join(root, '.gitignore'), 'c.js\n');
  expect(await packed('second')).toEqual({ ...first, path: join(place, 'second') });

  const entries: unknown[] = [];
  const onReadEntry = (entry: { path: string; mode?: number; uid?: number; mtime?: Date }) => {
    entries.push([entry.path, entry.mode, entry.uid, entry.mtime?.getTime()]);
  };
  await list({ file: first.path, onReadEntry });
  expect(entries).toEqual([
    ['a.js', 0o644, undefined, 0],
    ['b.js', 0o644, undefined, 0],
    [long, 0o644, undefined, 0],
    ['run.sh', 0o755, undefined, 0],
    ['ä.txt', 0o644, undefined, 0],
  ]);
  await put({ 'a.js': 'changed' });
  expect((await packed('third')).contentHash).not.toBe(first.contentHash);
});

test.each([0, 10])('a file that has %i bytes when it is packed, and had three, is a failure', async (size) => {
  await put({ 'a.js': 'abc' });
  const { files } = await listProject(root, await readRules(root, []));
  await truncate(join(root, 'a.js'), size);
  const { signal } = new AbortController();
  await expect(writeArchive(root, files, join(place, 'x'), signal)).rejects.toMatchObject({
    message: 'a.js changed while it was being packed.',
  });
});

test('writeArchive rejects a file that was deleted after the listing, and names it', async () => {
  await put({ 'a.js': 'abc' });
  const { files } = await listProject(root, await readRules(root, []));
  await rm(join(root, 'a.js'));
  const { signal } = new AbortController();
  await expect(writeArchive(root, files, join(place, 'x'), signal)).rejects.toMatchObject({
    message: 'Cannot pack the project: a.js (ENOENT).',
  });
});
