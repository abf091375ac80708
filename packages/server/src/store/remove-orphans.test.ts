import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { removeOrphans } from './remove-orphans.ts';

it('removeOrphans searches the other directories if it cannot read one', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-orphans-'));
  const orphan = join(directory, randomUUID(), 'orphan');
  await writeFile(join(directory, '00000000-0000-4000-8000-000000000000'), '');
  await mkdir(dirname(orphan));
  await writeFile(orphan, '');
  const now = new Date(Date.now() + 2 * 86_400_000);
  const search = { now, matches: () => true, findKnown: async () => new Set<string>(), remove: rm };
  await expect(removeOrphans(directory, search)).rejects.toMatchObject({ code: 'ENOTDIR' });
  expect(await readdir(directory)).toEqual(['00000000-0000-4000-8000-000000000000']);
  await rm(directory, { recursive: true });
});

it('removeOrphans rejects if it cannot read a directory, unless the directory is missing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-orphans-'));
  const search = { now: new Date(), matches: () => true, findKnown: async () => new Set<string>(), remove: rm };
  const path = join(directory, 'logs');
  await removeOrphans(path, search);
  await writeFile(path, '');
  await expect(removeOrphans(path, search)).rejects.toMatchObject({ code: 'ENOTDIR' });
  await rm(directory, { recursive: true });
});
