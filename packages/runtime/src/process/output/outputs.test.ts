import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createMonotonicClock } from './monotonic-clock.ts';
import { createOutputs } from './outputs.ts';

const isRoot = process.geteuid?.() === 0;

/** Only root can have another disk. */
it.runIf(isRoot)('hands output over to another disk, also after it was interrupted', async ({ skip }) => {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-outputs-'));
  const [instancesDirectory, disk] = [join(directory, 'instances'), join(directory, 'logs')];
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await mkdir(disk);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    return skip('this machine does not let root mount a tmpfs');
  }
  onTestFinished(() => void execFileSync('umount', ['-l', disk]));
  await mkdir(join(instancesDirectory, 'one/log'), { recursive: true });
  await writeFile(join(instancesDirectory, 'one/log/output'), 'line\n');
  // What a server that was killed in the middle of the copy has left.
  await mkdir(join(disk, 'agent/one.copy'), { recursive: true });
  await writeFile(join(disk, 'agent/one.copy/output'), 'li');

  const outputs = createOutputs({
    instances: new Map(),
    instancesDirectory,
    clock: createMonotonicClock(() => new Date()),
  });
  const place = join(disk, 'agent/one');
  await outputs.release('one', place);
  await outputs.release('one', place);
  // Of one that was killed after the copy was whole.
  await mkdir(join(instancesDirectory, 'one/log'));
  await outputs.release('one', place);
  expect(await readdir(join(disk, 'agent'))).toEqual(['one']);
  expect(await readdir(join(instancesDirectory, 'one'))).toEqual([]);
  expect(await outputs.released(place)).toMatchObject({ path: join(place, 'output'), marks: [{ end: 5 }] });
});
