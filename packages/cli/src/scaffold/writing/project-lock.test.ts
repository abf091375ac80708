import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isProjectLocked, lockProjectDirectory } from './project-lock.ts';

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-lock-'));
  path = join(directory, '.botcli/change.lock');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const write = async (lock: string) => {
  await mkdir(join(directory, '.botcli'));
  await writeFile(path, lock);
};

describe('lockProjectDirectory', () => {
  it('writes the process id into the lock file, and removes the file when the lock is released', async () => {
    const release = lockProjectDirectory(directory);
    expect(await readFile(path, 'utf8')).toBe(`${process.pid} ${hostname()}`);
    release();
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([
    ['a running process', `${process.ppid} ${hostname()}`, `(PID ${process.ppid})`],
    ['another machine', '1234 elsewhere', '(PID 1234 on elsewhere)'],
  ])(
    'fails while another owner (%s) holds the lock, and names the process and the file',
    async (_holder, lock, message) => {
      await write(lock);
      expect(isProjectLocked(directory)).toBe(true);
      expect(() => lockProjectDirectory(directory)).toThrow(
        expect.objectContaining({
          reason: 'project-busy',
          message: expect.stringContaining(message),
          hint: expect.stringContaining(`remove ${path}`),
        }),
      );
      expect(await readFile(path, 'utf8')).toBe(lock);
    },
  );

  it.each([
    ['a killed process', () => `${spawnSync('true').pid} ${hostname()}`],
    ['a killed process whose process id belongs to the new process', () => `${process.pid} ${hostname()}`],
    ['a process that was killed while it wrote the lock', () => ''],
  ])('replaces the lock of a former owner: %s', async (_holder, lock) => {
    await write(lock());
    expect(isProjectLocked(directory)).toBe(false);
    lockProjectDirectory(directory)();
    expect(await readdir(join(directory, '.botcli'))).toEqual([]);
  });
});
