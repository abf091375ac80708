import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isLocked, lockProject } from './lock.ts';
import { ownTrace } from './process-trace.ts';

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-lock-'));
  path = join(directory, '.botcli/change.lock');
  await mkdir(join(directory, '.botcli'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const [, , place = ''] = ownTrace().split('-');
const dead = () => `${spawnSync('true').pid}-1-${place}-0123abcd`;
const removing = (holder: string) => `${path}-${createHash('sha256').update(holder).digest('hex').slice(0, 12)}`;
const left = async () => (await readdir(join(directory, '.botcli'))).sort();
const refused = (message: string, hint: string) =>
  expect(() => lockProject(directory)).toThrow(
    expect.objectContaining({
      reason: 'project-busy',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    }),
  );

test('one at a time, and nothing is left', async () => {
  const release = lockProject(directory);
  expect(isLocked(directory)).toBe(true);
  refused(`(process ${process.pid})`, 'when it has ended');
  release();
  expect(isLocked(directory)).toBe(false);
  lockProject(directory)();
  expect(await left()).toEqual([]);
});

test('a lock of a dead process is none, as a file, too, where a file system has no links', async () => {
  for (const make of [(holder: string) => symlink(holder, path), (holder: string) => writeFile(path, holder)]) {
    await make(dead());
    expect(isLocked(directory)).toBe(false);
    const release = lockProject(directory);
    expect(await readlink(path)).toContain(ownTrace());
    release();
    expect(await left()).toEqual([]);
  }
});

test.each([
  ['another container or another boot', `1234-1-${'0'.repeat(12)}-0123abcd`],
  ['nobody of ours', 'somewhere'],
])('a lock of %s holds, and it is said how to take it away', async (_whose, holder) => {
  await symlink(holder, path);
  refused('Another botcli is changing', `remove ${path}`);
  expect(await left()).toEqual(['change.lock']);
});

test('while another removes the lock of a dead one, nobody else does', async () => {
  const holder = dead();
  await symlink(holder, path);
  await symlink(`${ownTrace()}-0123abcd`, removing(holder));
  refused('Another botcli is changing', 'when it has ended');
  expect(await readlink(path)).toBe(holder);
});

test('who was killed while it removed a lock stops nobody, and leaves nothing', async () => {
  const [holder, other] = [dead(), dead()];
  await symlink(holder, path);
  await symlink(dead(), removing(holder));
  await symlink(dead(), removing(other));
  await symlink(dead(), `${removing(other)}-0123456789ab`);
  lockProject(directory)();
  expect(await left()).toEqual([]);
});

test('who gives back takes no lock away that another has got since', async () => {
  const release = lockProject(directory);
  await rm(path);
  const others = lockProject(directory);
  release();
  expect(isLocked(directory)).toBe(true);
  others();
  expect(await left()).toEqual([]);
});

test('where there is no project nothing is made', async () => {
  await rm(join(directory, '.botcli'), { recursive: true });
  lockProject(directory)();
  expect(await readdir(directory)).toEqual([]);
});
