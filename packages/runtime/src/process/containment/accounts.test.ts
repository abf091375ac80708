import { mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestDirectory } from '../../../test/test-directory.ts';
import {
  derivePreferredUnixAccountId,
  maxUnixAccountId,
  minUnixAccountId,
  releaseOrphanedUids,
  reserveUid,
} from './accounts.ts';
import { unixAccountForAccessChecks } from './isolation.ts';
import { releaseReservedUid } from './reservations.ts';

async function directories() {
  const root = await createTestDirectory();
  return { reservations: join(root, 'reserved'), owner: root };
}

it('reserveUid returns a reserved user id again only after its owner has released it', async () => {
  const { reservations, owner } = await directories();
  const first = await reserveUid(reservations, owner);
  const second = await reserveUid(reservations, owner);
  expect(first).toBe(derivePreferredUnixAccountId(owner));
  expect(second).not.toBe(first);
  expect([first, second].every((uid) => uid >= minUnixAccountId && uid <= maxUnixAccountId)).toBe(true);
  releaseReservedUid(reservations, first, '/somebody/else');
  expect(await reserveUid(reservations, owner)).not.toBe(first);
  releaseReservedUid(reservations, first, owner);
  expect(await reserveUid(reservations, owner)).toBe(first);
});

it('reserveUid removes orphaned reservations when all user ids are reserved, and rejects if none is orphaned', async () => {
  const { reservations, owner } = await directories();
  await mkdir(reservations);
  for (let uid = minUnixAccountId; uid <= maxUnixAccountId; uid++)
    await symlink(owner, join(reservations, String(uid)));
  await expect(reserveUid(reservations, owner)).rejects.toThrow(/All user ids/);
  const orphan = join(reservations, String(minUnixAccountId + 7));
  await rm(orphan);
  await symlink(join(owner, 'missing'), orphan);
  expect(await reserveUid(reservations, owner)).toBe(minUnixAccountId + 7);
  expect(await readdir(reservations)).toHaveLength(maxUnixAccountId - minUnixAccountId + 1);
});

it('reserveUid never returns the user id under which the service checks whether bots can run programs', async () => {
  const { reservations, owner } = await directories();
  await mkdir(reservations);
  for (let uid = minUnixAccountId; uid <= maxUnixAccountId; uid++)
    await symlink(owner, join(reservations, String(uid)));
  await expect(reserveUid(reservations, owner)).rejects.toThrow(/All user ids/);
  expect(await readdir(reservations)).not.toContain(String(unixAccountForAccessChecks.uid));
});

it('releaseOrphanedUids releases only the ids that a killed server reserved without recording them', async () => {
  const { reservations, owner } = await directories();
  const known = await reserveUid(reservations, join(owner, 'known'));
  await reserveUid(reservations, join(owner, 'not-written-down'));
  await reserveUid(reservations, join(owner, 'known'));
  const others = await reserveUid(reservations, join(owner, 'other', 'instance'));
  releaseOrphanedUids(reservations, owner, (directory) => (directory === join(owner, 'known') ? known : null));
  expect((await readdir(reservations)).sort()).toEqual([String(known), String(others)].sort());
});
