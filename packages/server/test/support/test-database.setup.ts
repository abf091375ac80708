import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { createDirectoryLayout } from '../../src/store/embedded/layout.ts';
import { stopPostmaster } from '../../src/store/embedded/postmaster.ts';
import { readStartTicks } from '../../src/store/process-lock.ts';

const prefix = 'bothost-test-';

declare module 'vitest' {
  interface ProvidedContext {
    /** The data directory of the run's PostgreSQL. The first test that needs a database starts it. */
    testDatabaseDirectory: string;
    /**
     * Address of an existing PostgreSQL server that tests use (`BOTHOST_TEST_DATABASE_URL`). If it is empty, the first test that
     * needs a database starts one.
     */
    testDatabaseUrl: string;
  }
}

/**
 * Vitest's global setup. Creates the data directory. At the end, stops the PostgreSQL that tests started there and removes the
 * directory.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const parent = await parentDirectory();
  await removeOrphans(parent);
  const directory = await mkdtemp(path.join(parent, `${prefix}${process.pid}-${await readStartTicks(process.pid)}-`));
  await chmod(directory, 0o711);
  project.provide('testDatabaseDirectory', directory);
  // biome-ignore lint/style/noProcessEnv: a setting of the tests, not of the service
  project.provide('testDatabaseUrl', process.env['BOTHOST_TEST_DATABASE_URL'] ?? '');
  return () => removeDirectory(directory);
}

/** Uses memory (/dev/shm) if there is enough: tests create hundreds of databases and would mostly wait for the disk. */
async function parentDirectory(): Promise<string> {
  const memory = '/dev/shm';
  const isLarge = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize > 2 * 1024 ** 3,
    () => false,
  );
  return isLarge ? memory : os.tmpdir();
}

/**
 * Removes the data directories of killed test runs. The name of a directory contains the process id and the start time of its
 * run.
 */
async function removeOrphans(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue;
    const [pid = '', ticks = ''] = name.slice(prefix.length).split('-');
    if ((await readStartTicks(Number(pid))) !== ticks) await removeDirectory(path.join(parent, name));
  }
}

async function removeDirectory(directory: string): Promise<void> {
  await stopPostmaster(createDirectoryLayout(directory).data, 10_000);
  await rm(directory, { recursive: true, force: true });
}
