import { type Kysely, sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { openDatabase } from './database.ts';
import { type Migration, migrate } from './migrate.ts';

const logger = pino({ level: 'silent' });

/** Returns a migration that creates a table. A second run of the migration would fail, because the table already exists. */
const table = (name: string): Migration => ({
  name,
  up: async (db) => void (await sql`create table ${sql.id(`t${name}`)} ()`.execute(db)),
});

const broken: Migration = {
  name: '2-broken',
  up: async (db) => {
    await sql`create table half ()`.execute(db);
    await sql`select 1 / 0`.execute(db);
  },
};

/** Opens separate pools on one new database, as several servers would. */
async function servers(count: number): Promise<readonly Kysely<unknown>[]> {
  const { address, drop } = await createTestDatabase([]);
  onTestFinished(drop);
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const db = await openDatabase<unknown>({ address, logger });
      onTestFinished(() => db.destroy());
      return db;
    }),
  );
}

async function tables(db: Kysely<unknown>): Promise<readonly string[]> {
  const query = sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public' order by 1`;
  return (await query.execute(db)).rows.map(({ name }) => name).filter((name) => name !== 'schema_migration');
}

test('migrate runs each migration once, in order, over several starts', async () => {
  const [db] = await servers(1);
  if (db === undefined) throw new Error('no server');
  expect(await migrate(db, [table('1'), table('2')])).toEqual(['1', '2']);
  expect(await migrate(db, [table('1'), table('2')])).toEqual([]);
  expect(await migrate(db, [table('1'), table('2'), table('3')])).toEqual(['3']);
  expect(await tables(db)).toEqual(['t1', 't2', 't3']);
});

test('migrate runs each migration once when five servers start at once', async () => {
  const migrations = ['1', '2', '3', '4'].map(table);
  const ran = await Promise.all((await servers(5)).map((db) => migrate(db, migrations)));
  expect(ran.flat().sort()).toEqual(['1', '2', '3', '4']);
});

test('migrate rolls back a failing migration and keeps the earlier ones', async () => {
  const [db] = await servers(1);
  if (db === undefined) throw new Error('no server');
  await expect(migrate(db, [table('1'), broken])).rejects.toThrow('division by zero');
  expect(await tables(db)).toEqual(['t1']);
  expect(await migrate(db, [table('1'), table('2')])).toEqual(['2']);
});

test('migrate runs a migration again after its connection was lost during the migration', async () => {
  const [killed, next] = await servers(2);
  if (killed === undefined || next === undefined) throw new Error('no servers');
  const vanishing: Migration = {
    name: '1',
    up: async (db) => {
      await table('1').up(db);
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(db);
    },
  };
  const [first, second] = await Promise.allSettled([migrate(killed, [vanishing]), migrate(next, [table('1')])]);
  // Only one of the two servers runs the migration first. If it is `killed`, this server fails, because its connection is lost,
  // and `next` succeeds. If it is `next`, both servers succeed.
  expect([first.status, second.status]).toContain('fulfilled');
  await migrate(next, [table('1')]);
  expect(await tables(next)).toEqual(['t1']);
});

test('migrate refuses a database of a newer version and does not change it', async () => {
  const [db] = await servers(1);
  if (db === undefined) throw new Error('no server');
  await migrate(db, [table('1'), table('2')]);
  await expect(migrate(db, [table('1')])).rejects.toThrow('migration 2 is missing from this version');
  await expect(migrate(db, [table('1'), table('other'), table('3')])).rejects.toThrow('migration 2 is missing');
  expect(await tables(db)).toEqual(['t1', 't2']);
});
