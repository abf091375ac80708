import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { testAsRoot } from '../../test/root.ts';
import { openTreeRemover } from '../remove-tree.ts';
import { createInstanceOutputs } from './instance-outputs.ts';
import { createMonotonicClock } from './monotonic-clock.ts';

/** Mounts a second file system, which requires root. */
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
  const outputDirectory = (instanceId: string) => join(instancesDirectory, instanceId, 'log');
  const outputs = createInstanceOutputs({ instances: new Map(), outputDirectory, clock, removeTree });
  return { instancesDirectory, disk, outputs };
}

const noMount = 'root cannot mount a tmpfs on this machine';

testAsRoot(
  'release() moves the output of an instance to another file system, even if an earlier move was interrupted',
  async ({ skip }) => {
    const { instancesDirectory, disk, outputs } = await openWithOtherDisk().catch(() => skip(noMount));
    await writeFile(join(instancesDirectory, 'one/log/output'), 'line\n');
    // A sparse file whose hole is far larger than the file system.
    await truncate(join(instancesDirectory, 'one/log/output'), 2 ** 43);
    // Create the incomplete copy that a server leaves if it is killed while it copies the output.
    await mkdir(join(disk, 'agent/one.copy'), { recursive: true });
    await writeFile(join(disk, 'agent/one.copy/output'), 'li');

    const target = join(disk, 'agent/one');
    await outputs.release('one', target);
    await outputs.release('one', target);
    // Create the instance's log directory again. A server that is killed after it has copied the output does not delete this
    // directory.
    await mkdir(join(instancesDirectory, 'one/log'));
    await outputs.release('one', target);
    expect(await readdir(join(disk, 'agent'))).toEqual(['one']);
    expect(await readdir(join(instancesDirectory, 'one'))).toEqual([]);
    expect(await outputs.findReleased(target)).toMatchObject({
      path: join(target, 'output'),
      marks: [{ end: 2 ** 43 }],
    });
  },
);

testAsRoot(
  'release rejects with ENOSPC while the target file system is full, and moves the output once there is space',
  async ({ skip }) => {
    const { instancesDirectory, disk, outputs } = await openWithOtherDisk().catch(() => skip(noMount));
    await writeFile(join(instancesDirectory, 'one/log/output'), Buffer.alloc(600_000, 'x'));
    await writeFile(join(disk, 'other'), Buffer.alloc(600_000, 'x'));
    const target = join(disk, 'agent/one');
    await expect(outputs.release('one', target)).rejects.toMatchObject({ code: 'ENOSPC' });
    await rm(join(disk, 'other'));
    await outputs.release('one', target);
    expect(await outputs.findReleased(target)).toMatchObject({ marks: [{ end: 600_000 }] });
  },
);
