import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openTreeRemover } from '../../remove-tree.ts';
import { createMonotonicClock } from './monotonic-clock.ts';
import { createOutputs } from './outputs.ts';

const isRoot = process.geteuid?.() === 0;

/** Only root can mount one. */
async function openWithOtherDisk() {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-outputs-'));
  const [instancesDirectory, disk] = [join(directory, 'instances'), join(directory, 'logs')];
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await mkdir(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' });
  onTestFinished(() => void execFileSync('umount', ['-l', disk]));
  await mkdir(join(instancesDirectory, 'one/log'), { recursive: true });
  const clock = createMonotonicClock(() => new Date());
  const removeTree = openTreeRemover({
    quarantineDirectory: join(directory, 'quarantine'),
    logger: { error: (_, message) => expect.fail(message) },
  });
  const outputs = createOutputs({ instances: new Map(), instancesDirectory, clock, removeTree });
  return { instancesDirectory, disk, outputs };
}

const noMount = 'this machine does not let root mount a tmpfs';

it.runIf(isRoot)('hands output over to another disk, also after it was interrupted', async ({ skip }) => {
  const { instancesDirectory, disk, outputs } = await openWithOtherDisk().catch(() => skip(noMount));
  await writeFile(join(instancesDirectory, 'one/log/output'), 'line\n');
  // A hole that is far larger than the disk.
  await truncate(join(instancesDirectory, 'one/log/output'), 2 ** 43);
  // What a server that was killed in the middle of the copy has left.
  await mkdir(join(disk, 'agent/one.copy'), { recursive: true });
  await writeFile(join(disk, 'agent/one.copy/output'), 'li');

  const place = join(disk, 'agent/one');
  await outputs.release('one', place);
  await outputs.release('one', place);
  // Of one that was killed after the copy was whole.
  await mkdir(join(instancesDirectory, 'one/log'));
  await outputs.release('one', place);
  expect(await readdir(join(disk, 'agent'))).toEqual(['one']);
  expect(await readdir(join(instancesDirectory, 'one'))).toEqual([]);
  expect(await outputs.released(place)).toMatchObject({ path: join(place, 'output'), marks: [{ end: 2 ** 43 }] });
});

it.runIf(isRoot)('rejects with ENOSPC when the other disk is full, and hands over once it is not', async ({ skip }) => {
  const { instancesDirectory, disk, outputs } = await openWithOtherDisk().catch(() => skip(noMount));
  await writeFile(join(instancesDirectory, 'one/log/output'), Buffer.alloc(600_000, 'x'));
  await writeFile(join(disk, 'other'), Buffer.alloc(600_000, 'x'));
  const place = join(disk, 'agent/one');
  await expect(outputs.release('one', place)).rejects.toMatchObject({ code: 'ENOSPC' });
  await rm(join(disk, 'other'));
  await outputs.release('one', place);
  expect(await outputs.released(place)).toMatchObject({ marks: [{ end: 600_000 }] });
});
