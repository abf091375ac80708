import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A path for a profile in a directory of its own, removed by `remove`. */
export async function profileFile(): Promise<{ readonly file: string; readonly remove: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'botcli-'));
  return {
    file: join(directory, 'botcli', 'config.toml'),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
