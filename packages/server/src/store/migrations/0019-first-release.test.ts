import { readFile } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, openTestConnections } from '../../../test/support/test-database.ts';
import { listAppliedMigrations, migrate } from '../migrate.ts';
import type { Tables } from '../tables.ts';
import { newId } from '../uuid.ts';
import { firstReleaseMigration } from './0019-first-release.ts';
import { migrations } from './all.ts';

const names = migrations.map(({ name }) => name);
const replaced = firstReleaseMigration.replaces ?? [];
/** Written by pg_dump from a database of version 0.1.0. */
const schema = new URL('../../../test/support/schema-of-0.1.0.sql', import.meta.url);

async function openTestDatabase(applied: typeof migrations): Promise<Kysely<Tables>> {
  const database = await createTestDatabase(applied);
  onTestFinished(database.drop);
  const db = await openTestConnections(database);
  onTestFinished(() => db.destroy());
  return db;
}

/** Creates a database with the schema of 0.1.0 in which these migrations are recorded. */
async function openReleasedDatabase(recorded: readonly string[]): Promise<Kysely<Tables>> {
  const db = await openTestDatabase([]);
  await sql.raw(await readFile(schema, 'utf8')).execute(db);
  for (const [position, name] of recorded.entries()) {
    await sql`insert into schema_migration (position, name) values (${position}, ${name})`.execute(db);
  }
  return db;
}

async function describeSchema(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', 'column', table_name, column_name, data_type, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'public'
    union all select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
      from pg_constraint where connamespace = 'public'::regnamespace
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select regexp_replace(pg_get_functiondef(oid), '\\s+', ' ', 'g')
      from pg_proc where pronamespace = 'public'::regnamespace
    order by 1`.execute(db);
  return rows.map(({ line }) => line).filter((line) => !line.includes('schema_migration'));
}

test('the first migration creates the schema of version 0.1.0', async () => {
  const released = await describeSchema(await openReleasedDatabase([]));
  expect(released.length).toBeGreaterThan(300);
  expect(await describeSchema(await openTestDatabase([firstReleaseMigration]))).toEqual(released);
});

test('a database of version 0.1.0 keeps its rows and has the current schema after migrating', async () => {
  const db = await openReleasedDatabase(replaced);
  const organization = { id: newId(), name: 'home', verbose_name: 'Home', default_region: 'us-west' };
  await db
    .insertInto('organizations')
    .values({ ...organization, created_at: new Date() })
    .execute();

  expect(await migrate(db, migrations)).toEqual(names.slice(1));
  expect(await listAppliedMigrations(db)).toEqual(names);
  expect(await db.selectFrom('organizations').selectAll().execute()).toMatchObject([organization]);
  expect(await describeSchema(db)).toEqual(await describeSchema(await openTestDatabase(migrations)));
  expect(await migrate(db, migrations)).toEqual([]);
});

test('a database with the migrations of 0.1.0 and later ones runs only the missing migrations', async () => {
  const db = await openReleasedDatabase(replaced);
  await migrate(db, migrations.slice(0, 4));
  await sql`update schema_migration set position = -position - ${replaced.length - 1} where position > 0`.execute(db);
  await sql`update schema_migration set position = -position where position < 0`.execute(db);
  await sql`delete from schema_migration where position = 0`.execute(db);
  for (const [position, name] of replaced.entries()) {
    await sql`insert into schema_migration (position, name) values (${position}, ${name})`.execute(db);
  }

  expect(await migrate(db, migrations)).toEqual(names.slice(4));
  expect(await listAppliedMigrations(db)).toEqual(names);
});

test.each([
  ['one migration', replaced.slice(0, 1)],
  ['all but the last migration', replaced.slice(0, -1)],
  ['a missing migration in the middle', replaced.filter((name) => name !== '0010-secrets')],
])('migrate refuses a database of a version before 0.1.0, with %s, and does not change it', async (_, recorded) => {
  const db = await openReleasedDatabase(recorded);
  await expect(migrate(db, migrations)).rejects.toThrow('The database schema is from a version before 0.1.0.');
  expect(await listAppliedMigrations(db)).toEqual(recorded);
});
