import { type Kysely, sql, type Transaction } from 'kysely';
import { StoreError } from './store-error.ts';

/** A migration. Migrations only go forward: never change or remove a released one; correct it in a later one. */
export type Migration = { readonly name: string; readonly up: (db: Kysely<unknown>) => Promise<void> };

/** Key of the advisory lock held during migrations: "bothost" in ASCII. No other code uses this key. */
const lockKey = '27707093476668276';

/**
 * Applies the missing migrations and returns their names. Each runs in one transaction with its record, under a lock that
 * ends with the transaction, so concurrent servers and kills do no harm.
 *
 * @throws StoreError if the database has a migration that is not in the list, because a newer version has used it
 */
export async function migrate<Tables>(
  db: Kysely<Tables>,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  // Remove the table types, because a migration runs on earlier versions of the tables.
  const untyped = db as unknown as Kysely<unknown>;
  const ran: string[] = [];
  for (;;) {
    const name = await untyped.transaction().execute((transaction) => migrateOne(transaction, migrations));
    if (name === undefined) return ran;
    ran.push(name);
  }
}

/** Applies missing migrations in a transaction, which holds the lock, and returns their names. */
export async function migrateWithin<Tables>(
  db: Transaction<Tables>,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  const untyped = db as unknown as Transaction<unknown>;
  const ran: string[] = [];
  for (;;) {
    const name = await migrateOne(untyped, migrations);
    if (name === undefined) return ran;
    ran.push(name);
  }
}

/** The names of the migrations of a migrated database, in order. */
export async function appliedMigrations<Tables>(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from schema_migration order by position`.execute(db);
  return rows.map(({ name }) => name);
}

async function migrateOne(db: Transaction<unknown>, migrations: readonly Migration[]): Promise<string | undefined> {
  // Changing a large table may exceed the time limits of queries, and the lock waits for another server's migration.
  await sql`select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true),
    set_config('idle_in_transaction_session_timeout', '0', true)`.execute(db);
  await sql`select pg_advisory_xact_lock(${sql.lit(lockKey)}::bigint)`.execute(db);
  await sql`create table if not exists schema_migration (
    position integer primary key, name text not null unique, applied_at timestamptz not null default now())`.execute(
    db,
  );
  const applied = await appliedMigrations(db);
  requireKnown(
    applied,
    migrations.map((migration) => migration.name),
  );
  const next = migrations[applied.length];
  if (next === undefined) return undefined;
  await next.up(db);
  await sql`insert into schema_migration (position, name) values (${applied.length}, ${next.name})`.execute(db);
  return next.name;
}

/** Rejects a database of a newer version: the applied migrations must be the first ones in the list of known migrations. */
function requireKnown(applied: readonly string[], known: readonly string[]): void {
  const unknown = applied.find((name, position) => known[position] !== name);
  if (unknown === undefined) return;
  throw new StoreError(
    `Another version of this program migrated the database: migration ${unknown} is missing from this version or ` +
      'in a different order. Start that version or a newer one. This start did not change the database.',
  );
}
