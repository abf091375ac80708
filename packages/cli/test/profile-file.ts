import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a temporary directory and returns the path of a profile file in it. `remove` deletes the directory. */
export async function createProfilePath(): Promise<{ readonly file: string; readonly remove: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'botcli-'));
  return {
    file: join(directory, 'botcli', 'config.toml'),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
