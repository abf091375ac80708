import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** Creates a temporary directory for a test, and removes it after the test. `mode` lets other accounts use the directory. */
export async function createTestDirectory(mode = 0o700): Promise<string> {
  const directory = await createDirectory(mode);
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Like `createTestDirectory`, for all tests of a file or of a `describe`. */
export async function useTestDirectory(mode = 0o700): Promise<string> {
  const directory = await createDirectory(mode);
  afterAll(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function createDirectory(mode: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-test-'));
  await chmod(directory, mode);
  return directory;
}
