import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, type TestContext } from 'vitest';
import { closeCgroupHost, openCgroupHost, sweepCgroups } from './cgroup-host.ts';

const NOBODY = () => false;

/** Groups of a data directory of its own, and a way to put a process into one. Skips where there are none. */
async function openHost(test: TestContext) {
  const host = await openCgroupHost(`bothost-test-${process.pid}`);
  if (host === null) return test.skip('this process may not make control groups here');
  const directories = [...new Set(Object.values(host))].filter((directory) => directory !== null);
  onTestFinished(() => closeCgroupHost(host, NOBODY, 1000));
  return { host, directories, left: () => directories.filter((directory) => existsSync(directory)) };
}

function occupy(directories: readonly string[], name: string): ChildProcess {
  const child = spawn('/bin/sh', ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'ignore'], env: {} });
  for (const directory of directories) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'cgroup.procs'), String(child.pid));
  }
  return child;
}

it('removes at the end what a server that was killed at its trial left', async (test) => {
  const { host, directories, left } = await openHost(test);
  for (const directory of directories) mkdirSync(join(directory, 'trial-1'));
  await closeCgroupHost(host, NOBODY, 0);
  expect(left()).toEqual([]);
});

it('waits for the last process of an instance that is gone', async (test) => {
  const { host, directories, left } = await openHost(test);
  const child = occupy(directories, 'gone');
  expect(sweepCgroups(host, NOBODY)).toBe(false);
  const closed = closeCgroupHost(host, NOBODY, 60_000);
  child.stdin?.end();
  await Promise.all([once(child, 'close'), closed]);
  expect(left()).toEqual([]);
});

it('leaves the instances that stay, and waits for none of them', async (test) => {
  const { host, directories, left } = await openHost(test);
  const child = occupy(directories, 'stays');
  await closeCgroupHost(host, (name) => name === 'stays', 60_000);
  expect(left()).toEqual(directories);
  child.stdin?.end();
  await once(child, 'close');
});
