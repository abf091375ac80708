import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, type TestContext } from 'vitest';
import { closeCgroupHost, openCgroupHost, removeOrphanedCgroups } from './cgroup-host.ts';

const NONE_KNOWN = () => false;

async function openHost(test: TestContext) {
  const host = await openCgroupHost(`bothost-test-${process.pid}`);
  if (host === null) return test.skip('this process may not create control groups here');
  const directories = [...new Set(Object.values(host))].filter((directory) => directory !== null);
  onTestFinished(() => closeCgroupHost(host, NONE_KNOWN, 1000));
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

it('removes the test control group of a killed server on close', async (test) => {
  const { host, directories, left } = await openHost(test);
  for (const directory of directories) mkdirSync(join(directory, 'trial-1'));
  await closeCgroupHost(host, NONE_KNOWN, 0);
  expect(left()).toEqual([]);
});

it('waits on close until the last process of a removed instance has ended', async (test) => {
  const { host, directories, left } = await openHost(test);
  const child = occupy(directories, 'removed');
  expect(removeOrphanedCgroups(host, NONE_KNOWN)).toBe(false);
  const closed = closeCgroupHost(host, NONE_KNOWN, 60_000);
  child.stdin?.end();
  await Promise.all([once(child, 'close'), closed]);
  expect(left()).toEqual([]);
});

it('keeps the control groups of known instances on close, without waiting for their processes', async (test) => {
  const { host, directories, left } = await openHost(test);
  const child = occupy(directories, 'stays');
  await closeCgroupHost(host, (name) => name === 'stays', 60_000);
  expect(left()).toEqual(directories);
  child.stdin?.end();
  await once(child, 'close');
});
