import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished, type TestContext } from 'vitest';
import { enterServerCgroup, findParentCgroups, removeOrphanedCgroups, removeParentCgroups } from './cgroup-host.ts';

const noneKnown = () => false;

async function openHost(test: TestContext) {
  const host = await findParentCgroups(`bothost-test-${process.pid}`);
  if (host === null) return test.skip('this process may not create control groups here');
  const directories = [...new Set(Object.values(host))].filter((directory) => directory !== null);
  onTestFinished(() => removeParentCgroups(host, noneKnown, 1000));
  return { host, directories, left: () => directories.filter((directory) => existsSync(directory)) };
}

function occupy(directories: readonly string[], name: string): ChildProcess {
  const child = spawn('/bin/sh', ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'ignore'], env: {} });
  for (const directory of directories) {
    mkdirSync(join(directory, name), { recursive: true });
    writeFileSync(join(directory, name, 'cgroup.procs'), String(child.pid));
  }
  return child;
}

it('enterServerCgroup gives the server 256 times the CPU weight of all its instances together', async (test) => {
  enterServerCgroup();
  const { host } = await openHost(test);
  if (host.cpu === null || host.cpu === host.unified)
    return test.skip('this machine has no CPU controller of version 1');
  const group = join(dirname(host.cpu), 'bothost-server');
  expect(readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n')).toContain(String(process.pid));
  const shares = (directory: string) => Number(readFileSync(join(directory, 'cpu.shares'), 'utf8'));
  expect(shares(group)).toBe(256 * shares(host.cpu));
});

it('removeParentCgroups removes the control groups that a killed server created to test its permissions', async (test) => {
  const { host, directories, left } = await openHost(test);
  for (const directory of directories) mkdirSync(join(directory, 'trial-1'));
  await removeParentCgroups(host, noneKnown, 0);
  expect(left()).toEqual([]);
});

it('removeParentCgroups waits until the last process of a removed instance has ended', async (test) => {
  const { host, directories, left } = await openHost(test);
  const child = occupy(directories, 'owner/removed');
  expect(await removeOrphanedCgroups(host, noneKnown)).toBe(false);
  const closed = removeParentCgroups(host, noneKnown, 60_000);
  child.stdin?.end();
  await Promise.all([once(child, 'close'), closed]);
  expect(left()).toEqual([]);
});

it('removeParentCgroups keeps the control groups of known instances, and does not wait for their processes', async (test) => {
  const { host, directories, left } = await openHost(test);
  const child = occupy(directories, 'owner/stays');
  for (const directory of directories) mkdirSync(join(directory, 'owner/removed'));
  await removeParentCgroups(host, (name) => name === 'stays', 60_000);
  expect(left()).toEqual(directories);
  expect(directories.filter((directory) => existsSync(join(directory, 'owner/removed')))).toEqual([]);
  child.stdin?.end();
  await once(child, 'close');
});
