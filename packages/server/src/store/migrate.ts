import { type Kysely, sql, type Transaction } from 'kysely';
import { StoreError } from './store-error.ts';

/** A migration of the database. Never change or remove a released migration; correct it in a later one. */
export type Migration = {
  readonly name: string;
  /** Names of earlier migrations with the same result. Only the first migration in the list may replace others. */
  readonly replaces?: readonly string[];
  readonly up: (db: Kysely<unknown>) => Promise<void>;
};

/** Key of the advisory lock held during migrations: "bothost" in ASCII. No other code uses this key. */
const lockKey = '27707093476668276';

/**
 * Applies the missing migrations and returns their names. Each migration and its record are written in one transaction, which
 * holds a lock until it ends. So servers may migrate concurrently, and may be killed meanwhile.
 *
 * @throws StoreError if the database has a migration that is not in the list: a newer version of the service added it, or a
 * version before 0.1.0
 */
export async function migrate<Tables>(
  db: Kysely<Tables>,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  // Use the database without its table types, because a migration runs on earlier versions of the tables.
  const untyped = db as unknown as Kysely<unknown>;
  const ran: string[] = [];
  for (;;) {
    const name = await untyped.transaction().execute((transaction) => migrateOne(transaction, migrations));
    if (name === undefined) return ran;
    ran.push(name);
  }
}

/** Applies missing migrations and returns their names. The transaction holds the migration lock until it ends. */
export async function migrateInTransaction<Tables>(
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

/** Returns the names of the migrations that were applied to a database, in order. */
export async function listAppliedMigrations<Tables>(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from schema_migration order by position`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Returns the names of applied migrations as this version names them: the first migration stands for the migrations that it
 * replaces.
 *
 * @throws StoreError if only some of the replaced migrations were applied
 */
export function resolveReplacedMigrations(
  applied: readonly string[],
  migrations: readonly Migration[],
): readonly string[] {
  const [first] = migrations;
  if (first?.replaces === undefined || applied[0] !== first.replaces[0]) return applied;
  if (first.replaces.every((name, position) => applied[position] === name)) {
    return [first.name, ...applied.slice(first.replaces.length)];
  }
  throw new StoreError('The database schema is from a version before 0.1.0. Migrate it with version 0.1.0 first.');
}

/** Removes the records of replaced migrations, which are the first ones. */
async function replaceRecords(db: Transaction<unknown>, names: readonly string[], removed: number): Promise<void> {
  await sql`delete from schema_migration where position < ${removed}`.execute(db);
  await sql`update schema_migration set name = ${names[0]} where position = ${removed}`.execute(db);
  // Two statements, because PostgreSQL checks that positions are unique after each row.
  await sql`update schema_migration set position = -position`.execute(db);
  await sql`update schema_migration set position = -position - ${removed}`.execute(db);
}

async function migrateOne(db: Transaction<unknown>, migrations: readonly Migration[]): Promise<string | undefined> {
  // Disable the time limits. Changing a large table may exceed them, and so may waiting for the migration of another server.
  await sql`select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true),
    set_config('idle_in_transaction_session_timeout', '0', true)`.execute(db);
  await sql`select pg_advisory_xact_lock(${sql.lit(lockKey)}::bigint)`.execute(db);
  await sql`create table if not exists schema_migration (
    position integer primary key, name text not null unique, applied_at timestamptz not null default now())`.execute(
    db,
  );
  const recorded = await listAppliedMigrations(db);
  const applied = resolveReplacedMigrations(recorded, migrations);
  requireKnown(
    applied,
    migrations.map((migration) => migration.name),
  );
  if (applied.length < recorded.length) await replaceRecords(db, applied, recorded.length - applied.length);
  const next = migrations[applied.length];
  if (next === undefined) return undefined;
  await next.up(db);
  await sql`insert into schema_migration (position, name) values (${applied.length}, ${next.name})`.execute(db);
  return next.name;
}

/** Rejects a database of another version. The applied migrations must be the first ones in the list of known migrations. */
function requireKnown(applied: readonly string[], known: readonly string[]): void {
  const unknown = applied.find((name, position) => known[position] !== name);
  if (unknown === undefined) return;
  throw new StoreError(
    `Another version of this program migrated the database: migration ${unknown} is missing from this version or ` +
      'in a different order. Start that version or a newer one. This start did not change the database.',
  );
}
