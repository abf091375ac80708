import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeOrphans } from './remove-orphans.ts';

it('removeOrphans rejects if it cannot read a directory, unless the directory is missing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-orphans-'));
  const search = { now: new Date(), matches: () => true, findKnown: async () => new Set<string>(), remove: rm };
  const path = join(directory, 'logs');
  await removeOrphans(path, search);
  await writeFile(path, '');
  await expect(removeOrphans(path, search)).rejects.toMatchObject({ code: 'ENOTDIR' });
  await rm(directory, { recursive: true });
});
