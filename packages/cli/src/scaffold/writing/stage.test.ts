import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownTrace } from './process-trace.ts';
import { clearDeadStages, keptIn, makeStage } from './stage.ts';

let root: string;
let directory: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'botcli-stage-'));
  directory = join(root, 'bot');
});
afterEach(() => rm(root, { recursive: true, force: true }));

const [, , place = ''] = ownTrace().split('-');
/** A stage of a process that has ended. */
const dead = () => `.botcli-init-${spawnSync('true').pid}-1-${place}-AbC123`;
const left = async () => (await readdir(root)).sort();

test('a stage of a dead process is cleared, beside the directory and within it', async () => {
  await mkdir(join(root, dead(), 'new'), { recursive: true });
  await mkdir(join(directory, dead()), { recursive: true });
  clearDeadStages(directory);
  expect(await left()).toEqual(['bot']);
  expect(await readdir(directory)).toEqual([]);
});

test('so is one whose number another process has by now', async () => {
  await mkdir(join(root, `.botcli-init-${process.pid}-1-${place}-AbC123`));
  clearDeadStages(directory);
  expect(await left()).toEqual([]);
});

test('what a living process writes stays', async () => {
  const stage = makeStage(directory);
  clearDeadStages(directory);
  expect(await left()).toEqual([stage.slice(root.length + 1)]);
});

test('what another boot, another container or nobody of ours made stays', async () => {
  const ended = spawnSync('true').pid;
  const names = [
    `.botcli-init-${ended}-1-${'0'.repeat(12)}-AbC123`,
    `.botcli-init-${ended}-1-${place}`,
    `.botcli-init-${ended}-1-${place}-AbC123.bak`,
    `my.botcli-init-${ended}-1-${place}-AbC123`,
    '.demo.botcli-AbC123',
  ];
  for (const name of names) await mkdir(join(root, name));
  const [file, link] = [dead(), dead().replace('AbC', 'xYz')];
  await writeFile(join(root, file), 'mine');
  await symlink(root, join(root, link));
  clearDeadStages(directory);
  expect(await left()).toEqual([...names, file, link].sort());
});

test('what a dead process took away goes back, unless something is in its place', async () => {
  const stage = join(root, dead());
  await mkdir(join(keptIn(stage, directory), 'server'), { recursive: true });
  await mkdir(join(directory, 'server'), { recursive: true });
  for (const path of ['README.md', 'server/bot.py']) await writeFile(join(keptIn(stage, directory), path), 'old\n');
  await writeFile(join(directory, 'README.md'), 'new\n');
  clearDeadStages(directory);
  expect(await left()).toEqual(['bot']);
  expect(await readFile(join(directory, 'README.md'), 'utf8')).toBe('new\n');
  expect(await readFile(join(directory, 'server/bot.py'), 'utf8')).toBe('old\n');
});

test('a stage stays when what it holds cannot go back', async () => {
  const stage = join(root, dead());
  await mkdir(keptIn(stage, directory), { recursive: true });
  await writeFile(join(keptIn(stage, directory), 'README.md'), 'old\n');
  await symlink(tmpdir(), directory);
  clearDeadStages(directory);
  expect(await readFile(join(keptIn(stage, directory), 'README.md'), 'utf8')).toBe('old\n');
});
