import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createDirectoryLayout } from '../src/store/embedded/layout.ts';
import { findPostmaster } from '../src/store/embedded/postmaster.ts';
import { openCrashService } from './crash/crash-service.ts';

/** Returns the CPU control group of a process in cgroup version 1. Undefined if the machine does not use version 1. */
async function cpuGroupOf(pid: number): Promise<string | undefined> {
  return /^\d+:(?:\w+,)*cpu(?:,\w+)*:(.*)$/m.exec(await readFile(`/proc/${pid}/cgroup`, 'utf8'))?.[1];
}

it('the service and its database run in one control group for the server', async (test) => {
  if ((await cpuGroupOf(process.pid)) === undefined)
    return test.skip('this machine has no CPU controller of version 1');
  if (process.geteuid?.() !== 0) return test.skip('only root may create control groups of version 1');
  const service = await openCrashService();
  onTestFinished(() => service.remove());
  const { pid = 0 } = service.current();
  const postmaster = await findPostmaster(createDirectoryLayout(service.dataDirectory).data);
  expect(await cpuGroupOf(pid)).toMatch(/\/bothost-server$/);
  expect(await cpuGroupOf(postmaster ?? 0)).toBe(await cpuGroupOf(pid));
});
