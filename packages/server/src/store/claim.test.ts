import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startTicks, withClaim } from './claim.ts';

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

test('of many that claim at once each works alone', async () => {
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
    Array.from({ length: 8 }, () => withClaim({ directory, timeoutMs: 20_000, refusal: 'held by another' }, work)),
  );
  expect(most).toEqual(Array.from({ length: 8 }, () => 1));
});

test('a living claimant is waited for, and told when it takes too long', async () => {
  const directory = await lockDirectory();
  const pid = await living();
  await writeFile(path.join(directory, `${pid}-${await startTicks(pid)}-1`), '');
  await expect(withClaim({ directory, timeoutMs: 1, refusal: 'held by another' }, async () => 'alone')).rejects.toThrow(
    /held by another/,
  );
});

test('goes on when the claimant lets go', async () => {
  const directory = await lockDirectory();
  const pid = await living();
  const claim = path.join(directory, `${pid}-${await startTicks(pid)}-1`);
  await writeFile(claim, '');
  const waiting = withClaim({ directory, timeoutMs: 20_000, refusal: 'held by another' }, async () => 'alone');
  await rm(claim);
  expect(await waiting).toBe('alone');
});

test('the claim of a process that is gone, or of an earlier one of the same number, holds nobody up', async () => {
  const directory = await lockDirectory();
  const pid = await living();
  await writeFile(path.join(directory, `${pid}-1-1`), '');
  await writeFile(path.join(directory, '4194303-5-1'), '');
  expect(await withClaim({ directory, timeoutMs: 20_000, refusal: 'held by another' }, async () => 'alone')).toBe(
    'alone',
  );
  expect(await readdir(directory)).toEqual([]);
});

test('work that fails lets go', async () => {
  const directory = await lockDirectory();
  const failing = withClaim({ directory, timeoutMs: 20_000, refusal: 'held by another' }, () =>
    Promise.reject(new Error('no room')),
  );
  await expect(failing).rejects.toThrow('no room');
  expect(await readdir(directory)).toEqual([]);
});
