import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { layoutOf } from './embedded/layout.ts';
import { stopPostmaster } from './embedded/postmaster.ts';

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
  const directory = await mkdtemp(path.join(os.tmpdir(), 'bothost-test-'));
  await chmod(directory, 0o711);
  project.provide('testDatabaseDirectory', directory);
  // biome-ignore lint/style/noProcessEnv: a setting of the tests, not of the service
  project.provide('testDatabaseUrl', process.env['BOTHOST_TEST_DATABASE_URL'] ?? '');
  return async () => {
    await stopPostmaster(layoutOf(directory).data, 10_000);
    await rm(directory, { recursive: true, force: true });
  };
}
