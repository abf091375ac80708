import { expect, test } from 'vitest';
import { createMemoryFolder } from '../test/memory-folder.ts';
import { listProjectFiles } from './project-files.ts';

async function listFiles(texts: Readonly<Record<string, string>>, patterns: readonly string[] = []) {
  const { files, excluded } = await listProjectFiles(createMemoryFolder(texts), patterns);
  return {
    files: files.map(({ path }) => path),
    excluded: Object.fromEntries(excluded.map(({ path, reason }) => [path, reason])),
  };
}

test('listProjectFiles excludes secrets, generated files and version control, and reports the reasons', async () => {
  const texts = {
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
  };
  expect(await listFiles(texts, ['*.md'])).toEqual({
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

test.each([
  './data',
  './data/',
  './data/*',
  '././data',
  './/data',
  'data//',
  './**/data',
  '/./data',
  'data/./calls.csv',
])(
  'listProjectFiles excludes the data for the pattern %s of [build.exclude], with and without .dockerignore',
  async (pattern) => {
    for (const ignoreFile of ['.gitignore', '.dockerignore']) {
      const texts = { 'bot.py': 'x', 'data/calls.csv': 'x', [ignoreFile]: '' };
      const project = await listProjectFiles(createMemoryFolder(texts), [pattern]);
      expect(project.files.map(({ path }) => path)).not.toContain('data/calls.csv');
      expect(project.unmatchedPatterns).toEqual([]);
    }
    const negated = await listFiles({ 'data/calls.csv': 'x', '.gitignore': '*.csv\n' }, [`!${pattern}`, '!data/*']);
    expect(negated.files).toEqual(['data/calls.csv']);
  },
);

test('listProjectFiles applies .gitignore files of nested directories as git does', async () => {
  const texts = {
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
  };
  expect((await listFiles(texts)).files).toEqual([
    'sub 1/here.txt',
    'sub [1]/a/deep/x.txt',
    'sub [1]/a/here.txt',
    'sub [1]/build/made.txt',
    'sub [1]/kept.log',
    'sub/out/a',
  ]);
});

test('listProjectFiles uses .dockerignore instead of the defaults and .gitignore, but never includes .env', async () => {
  const texts = {
    '.dockerignore': '*\n!src\n!node_modules/kept\n!.env\n.dockerignore\n',
    '.gitignore': 'src/\n',
    'src/bot.js': '',
    'node_modules/kept/a.js': '',
    'node_modules/other/a.js': '',
    '.env': 'KEY=1',
    'a.md': '',
  };
  expect(await listFiles(texts, ['*.tmp'])).toMatchObject({
    files: ['node_modules/kept/a.js', 'src/bot.js'],
    excluded: { '.env': 'always', 'a.md': '.dockerignore' },
  });
});

test('listProjectFiles includes files that the deploy file exempts from the default exclusions', async () => {
  expect((await listFiles({ 'dist/bot.js': '', 'build/x': '' }, ['!dist/'])).files).toEqual(['dist/bot.js']);
});

test('listProjectFiles names the line of an invalid .dockerignore pattern', async () => {
  await expect(listFiles({ '.dockerignore': 'a[\n' })).rejects.toMatchObject({
    message: '.dockerignore: line 1 is not a valid pattern: a[.',
  });
});

test('listProjectFiles counts the files and bytes of an excluded directory', async () => {
  const folder = createMemoryFolder({ 'node_modules/a/1.js': '12345', 'node_modules/b/2.js': '1' });
  const { excluded } = await listProjectFiles(folder, []);
  expect(excluded).toEqual([{ path: 'node_modules', reason: 'by default', files: 2, bytes: 6, isWhole: true }]);
});
