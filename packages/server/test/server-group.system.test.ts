import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createDirectoryLayout } from '../src/store/embedded/layout.ts';
import { findPostmaster } from '../src/store/embedded/postmaster.ts';
import { findFreePort } from './support/free-port.ts';
import { createServiceProcess } from './support/service-process.ts';

/** Returns the CPU control group of a process in cgroup version 1. Undefined if the machine does not use version 1. */
async function cpuGroupOf(pid: number): Promise<string | undefined> {
  return /^\d+:(?:\w+,)*cpu(?:,\w+)*:(.*)$/m.exec(await readFile(`/proc/${pid}/cgroup`, 'utf8'))?.[1];
}

it('the service and its database run in one control group for the server', async (test) => {
  if ((await cpuGroupOf(process.pid)) === undefined)
    return test.skip('this machine has no CPU controller of version 1');
  if (process.geteuid?.() !== 0) return test.skip('only root may create control groups of version 1');
  const directory = await mkdtemp(join(tmpdir(), 'bothost-group-'));
  // The database runs under its own account, which must be able to enter this parent directory of the database's files.
  await chmod(directory, 0o711);
  const service = createServiceProcess({ directory, agents: [], port: await findFreePort() });
  onTestFinished(async () => {
    service.current().signal('SIGTERM');
    await service.current().exited;
    await rm(directory, { recursive: true, force: true });
  });
  const { ready, pid = 0 } = service.start();
  await ready;
  const postmaster = await findPostmaster(createDirectoryLayout(service.dataDirectory).data);
  expect(await cpuGroupOf(pid)).toMatch(/\/bothost-server$/);
  expect(await cpuGroupOf(postmaster ?? 0)).toBe(await cpuGroupOf(pid));
});
