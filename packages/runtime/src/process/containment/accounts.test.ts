import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { FIRST_ID, LAST_ID, preferredId, releaseOrphanedUids, releaseUid, reserveUid } from './accounts.ts';
import { TRIAL_ACCOUNT } from './isolation.ts';

async function directories() {
  const root = await mkdtemp(join(tmpdir(), 'bothost-accounts-'));
  onTestFinished(() => rm(root, { recursive: true }));
  return { reservations: join(root, 'reserved'), owner: root };
}

it('reserves each user id once, until its owner releases it', async () => {
  const { reservations, owner } = await directories();
  const first = await reserveUid(reservations, owner);
  const second = await reserveUid(reservations, owner);
  expect(first).toBe(preferredId(owner));
  expect(second).not.toBe(first);
  expect([first, second].every((uid) => uid >= FIRST_ID && uid <= LAST_ID)).toBe(true);
  releaseUid(reservations, first, '/somebody/else');
  expect(await reserveUid(reservations, owner)).not.toBe(first);
  releaseUid(reservations, first, owner);
  expect(await reserveUid(reservations, owner)).toBe(first);
});

it('removes orphaned reservations when all user ids are taken, and rejects if none are orphaned', async () => {
  const { reservations, owner } = await directories();
  await mkdir(reservations);
  for (let uid = FIRST_ID; uid <= LAST_ID; uid++) await writeFile(join(reservations, String(uid)), owner);
  await expect(reserveUid(reservations, owner)).rejects.toThrow(/All user ids/);
  await writeFile(join(reservations, String(FIRST_ID + 7)), join(owner, 'gone'));
  expect(await reserveUid(reservations, owner)).toBe(FIRST_ID + 7);
  expect(await readdir(reservations)).toHaveLength(LAST_ID - FIRST_ID + 1);
});

it('never reserves the account under which the service tries out programs', async () => {
  const { reservations, owner } = await directories();
  await mkdir(reservations);
  for (let uid = FIRST_ID; uid <= LAST_ID; uid++) await writeFile(join(reservations, String(uid)), owner);
  await expect(reserveUid(reservations, owner)).rejects.toThrow(/All user ids/);
  expect(await readdir(reservations)).not.toContain(String(TRIAL_ACCOUNT.uid));
});

it('releases user ids that a killed server reserved but did not record, but not those of other servers', async () => {
  const { reservations, owner } = await directories();
  const known = await reserveUid(reservations, join(owner, 'known'));
  await reserveUid(reservations, join(owner, 'not-written-down'));
  await reserveUid(reservations, join(owner, 'known'));
  const others = await reserveUid(reservations, join(owner, 'other', 'instance'));
  releaseOrphanedUids(reservations, owner, (directory) => (directory === join(owner, 'known') ? known : null));
  expect((await readdir(reservations)).sort()).toEqual([String(known), String(others)].sort());
});
