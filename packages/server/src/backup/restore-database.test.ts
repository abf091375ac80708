import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackupManifest } from '@bothost/contract';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabase, openTestConnections, type TestDatabase } from '../../test/support/test-database.ts';
import { listAppliedMigrations } from '../store/migrate.ts';
import { firstReleaseMigration } from '../store/migrations/0019-first-release.ts';
import { migrations } from '../store/migrations/all.ts';
import type { Database } from '../store/tables.ts';
import { restoreDatabase } from './restore-database.ts';

const names = migrations.map(({ name }) => name);
const at = '2026-11-20T12:00:00.123456+00:00';
const organization = { id: '0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11', name: 'home', verbose_name: 'Home' };

let directory: string;
let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'restore-'));
  await mkdir(join(directory, 'database/organizations'), { recursive: true });
  const rows = [{ ...organization, default_region: 'us-west', created_at: at }];
  await writeFile(join(directory, 'database/organizations/0.json'), JSON.stringify(rows));
  database = await createTestDatabase([]);
  db = await openTestConnections(database);
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
  await rm(directory, { recursive: true });
});

function restore(applied: readonly string[]): Promise<void> {
  const manifest: BackupManifest = { format: 1, id: 'b', createdAt: at, region: 'us-west', migrations: [...applied] };
  return restoreDatabase({ db, now: () => new Date() }, { directory, manifest });
}

it.each([
  ['an earlier version', names.slice(0, 3)],
  ['version 0.1.0', firstReleaseMigration.replaces ?? []],
])('restoreDatabase restores and migrates a backup of %s', async (_, applied) => {
  await restore(applied);
  expect(await listAppliedMigrations(db)).toEqual(names);
  expect(await db.selectFrom('organizations').selectAll().execute()).toMatchObject([organization]);
});

it('restoreDatabase refuses a backup from a newer version', async () => {
  await expect(restore([...names, '9999-later'])).rejects.toThrow('from a newer version');
  expect(await listAppliedMigrations(db)).toEqual([]);
});

it('restoreDatabase refuses a backup from a version before 0.1.0', async () => {
  await expect(restore(['0001-first', '0002-builds'])).rejects.toThrow('from a version before 0.1.0');
  expect(await listAppliedMigrations(db)).toEqual([]);
});

it('restoreDatabase leaves the database empty if a row cannot be inserted', async () => {
  await writeFile(join(directory, 'database/organizations/1.json'), '[{"id": null}]');
  await expect(restore(names)).rejects.toThrow('null value');
  expect(await listAppliedMigrations(db)).toEqual([]);
});
