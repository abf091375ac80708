import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDirectory } from '../../../test/test-directory.ts';
import { countCgroupOomKills, createCgroups, forbidForks, limitCgroupCpu, openCgroupUsageReader } from './cgroup.ts';

const resourceLimits = { cpuMillicores: 500, memoryBytes: 1_000_000 };

/** Plain files stand in for the cgroup file system, because CI machines lack cgroup version 2 controllers. */
async function unifiedGroup() {
  const directory = await createTestDirectory();
  const unified = join(directory, 'instance');
  await mkdir(unified);
  for (const name of ['memory.swap.max', 'pids.max']) await writeFile(join(unified, name), '');
  return { unified, memory: unified, cpu: unified, cpuacct: null, pids: unified };
}

it('createCgroups and limitCgroupCpu write limits in the format of cgroup version 2', async () => {
  const groups = await unifiedGroup();
  await createCgroups(groups, resourceLimits, 64);
  expect(await limitCgroupCpu(groups, 500, 'session')).toBe(true);
  const read = (name: string) => readFile(join(groups.unified, name), 'utf8');
  expect(await read('memory.max')).toBe('1000000');
  expect(await read('memory.swap.max')).toBe('0');
  expect(await read('cpu.max')).toBe('500000 1000000');
  expect(await read('cpu.weight')).toBe('100');
  expect(await read('pids.max')).toBe('64');
  await forbidForks(groups);
  expect(await read('pids.max')).toBe('0');
});

it('openCgroupUsageReader and countCgroupOomKills read the format of cgroup version 2', async () => {
  const groups = await unifiedGroup();
  const write = (name: string, text: string) => writeFile(join(groups.unified, name), text);
  await write('cpu.stat', 'usage_usec 12345\nuser_usec 1\n');
  await write('memory.current', '5000000\n');
  await write('memory.stat', 'anon 1\ninactive_anon 7\ninactive_file 1000000\n');
  await write('memory.events', 'low 0\nhigh 0\nmax 3\noom 2\noom_kill 1\noom_group_kill 0\n');
  const usage = openCgroupUsageReader(groups);
  onTestFinished(() => usage?.close());
  expect(usage?.read()).toEqual({ cpuMicroseconds: 12_345, memoryBytes: 4_000_000 });
  expect(countCgroupOomKills(groups)).toBe(1);
});

it('limitCgroupCpu returns false if the machine has no CPU controller', async () => {
  const groups = { unified: null, memory: null, cpu: null, cpuacct: null, pids: null };
  expect(await limitCgroupCpu(groups, 500, 'session')).toBe(false);
});
