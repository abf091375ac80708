import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readStartTicks, withProcessLock } from './process-lock.ts';

async function lockDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'bothost-lock-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function living(): Promise<number> {
  const child = spawn('sleep', ['60']);
  onTestFinished(() => void child.kill());
  await once(child, 'spawn');
  return child.pid ?? 0;
}

test('withProcessLock runs concurrent work one at a time', async () => {
  const directory = await lockDirectory();
  let inside = 0;
  const most: number[] = [];
  const work = async () => {
    inside += 1;
    most.push(inside);
    await readdir(directory);
    inside -= 1;
  };
  await Promise.all(
    Array.from({ length: 8 }, () =>
      withProcessLock({ directory, timeoutMs: 20_000, refusal: 'held by another' }, work),
    ),
  );
  expect(most).toEqual(Array.from({ length: 8 }, () => 1));
});

test('withProcessLock fails after the timeout while a living process holds the lock', async () => {
  const directory = await lockDirectory();
  const pid = await living();
  await writeFile(path.join(directory, `${pid}-${await readStartTicks(pid)}-1`), '');
  await expect(
    withProcessLock({ directory, timeoutMs: 1, refusal: 'held by another' }, async () => 'alone'),
  ).rejects.toThrow(/held by another/);
});

test('withProcessLock starts the work when the holder releases the lock', async () => {
  const directory = await lockDirectory();
  const pid = await living();
  const lockFile = path.join(directory, `${pid}-${await readStartTicks(pid)}-1`);
  await writeFile(lockFile, '');
  const waiting = withProcessLock({ directory, timeoutMs: 20_000, refusal: 'held by another' }, async () => 'alone');
  await rm(lockFile);
  expect(await waiting).toBe('alone');
});

test('withProcessLock ignores locks of dead processes and of earlier processes with the same pid', async () => {
  const directory = await lockDirectory();
  const pid = await living();
  await writeFile(path.join(directory, `${pid}-1-1`), '');
  await writeFile(path.join(directory, '4194303-5-1'), '');
  expect(await withProcessLock({ directory, timeoutMs: 20_000, refusal: 'held by another' }, async () => 'alone')).toBe(
    'alone',
  );
  expect(await readdir(directory)).toEqual([]);
});

test('withProcessLock releases the lock when the work fails', async () => {
  const directory = await lockDirectory();
  const failing = withProcessLock({ directory, timeoutMs: 20_000, refusal: 'held by another' }, () =>
    Promise.reject(new Error('no room')),
  );
  await expect(failing).rejects.toThrow('no room');
  expect(await readdir(directory)).toEqual([]);
});
