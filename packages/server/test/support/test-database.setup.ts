import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startTicks } from '../../src/store/claim.ts';
import { layoutOf } from '../../src/store/embedded/layout.ts';
import { stopPostmaster } from '../../src/store/embedded/postmaster.ts';

const prefix = 'bothost-test-';

declare module 'vitest' {
  interface ProvidedContext {
    /** The data directory of the run's one PostgreSQL; the first test that wants a database starts it there. */
    testDatabaseDirectory: string;
    /** A server to use instead (`BOTHOST_TEST_DATABASE_URL`), or nothing. */
    testDatabaseUrl: string;
  }
}

/** vitest's global setup: names the place, starts nothing; at the end stops what tests started there and removes it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeLeft();
  const directory = await mkdtemp(path.join(os.tmpdir(), `${prefix}${process.pid}-${await startTicks(process.pid)}-`));
  await chmod(directory, 0o711);
  project.provide('testDatabaseDirectory', directory);
  // biome-ignore lint/style/noProcessEnv: a setting of the tests, not of the service
  project.provide('testDatabaseUrl', process.env['BOTHOST_TEST_DATABASE_URL'] ?? '');
  return () => removeDirectory(directory);
}

/** A run that was killed leaves its database running; its directory has the run's process (number and start time) in its name. */
async function removeLeft(): Promise<void> {
  for (const name of await readdir(os.tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const [pid = '', ticks = ''] = name.slice(prefix.length).split('-');
    if ((await startTicks(Number(pid))) !== ticks) await removeDirectory(path.join(os.tmpdir(), name));
  }
}

async function removeDirectory(directory: string): Promise<void> {
  await stopPostmaster(layoutOf(directory).data, 10_000);
  await rm(directory, { recursive: true, force: true });
}
