import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { putInPlace } from './put-in-place.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'botcli-place-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const files = [
  { path: 'README.md', text: 'new\n' },
  { path: 'client/src/main.ts', text: 'new\n' },
  { path: 'server/bot.py', text: 'new\n' },
];
const put = (replaced: readonly string[]) =>
  putInPlace(join(root, 'bot'), files, new Set(replaced), new AbortController().signal);
const left = async () => (await readdir(root, { recursive: true })).sort();

test('what another program put there meanwhile stays, and nothing is left beside it', async () => {
  await mkdir(join(root, 'bot/server'), { recursive: true });
  await writeFile(join(root, 'bot/server/bot.py'), 'theirs\n');
  expect(() => put([])).toThrow(expect.objectContaining({ code: 'EEXIST' }));
  expect(await left()).toEqual(['bot', 'bot/server', 'bot/server/bot.py']);
  expect(await readFile(join(root, 'bot/server/bot.py'), 'utf8')).toBe('theirs\n');
});

test('what may be replaced is, and no other name of the new files is left', async () => {
  await mkdir(join(root, 'bot/server'), { recursive: true });
  await writeFile(join(root, 'bot/server/bot.py'), 'mine\n');
  put(['server/bot.py']);
  expect(await readFile(join(root, 'bot/server/bot.py'), 'utf8')).toBe('new\n');
  expect(await left()).toEqual([
    'bot',
    'bot/README.md',
    'bot/client',
    'bot/client/src',
    'bot/client/src/main.ts',
    'bot/server',
    'bot/server/bot.py',
  ]);
});
