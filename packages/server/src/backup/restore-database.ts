import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { findRecentlyServingBuilds } from '../agents/builds-in-use.ts';
import { resetDeploymentsAfterRestore } from '../agents/reset-deployments-after-restore.ts';
import { requeueBuildsAfterRestore } from '../builds/requeue.ts';
import { endLostSessions } from '../sessions/end-lost.ts';
import { migrateInTransaction, resolveReplacedMigrations } from '../store/migrate.ts';
import { migrations } from '../store/migrations/all.ts';
import { StoreError } from '../store/store-error.ts';
import type { Database } from '../store/tables.ts';
import type { PendingRestore } from './pending-restore.ts';
import { listTableNames } from './read-tables.ts';

/**
 * Restores a backup into an empty database in one transaction, so a killed restore leaves the database empty. Does
 * nothing if this backup was already restored.
 *
 * @throws StoreError if the database is not empty, or the backup is from a newer version or a version before 0.1.0
 */
export async function restoreDatabase(
  context: { readonly db: Database; readonly now: () => Date },
  restore: PendingRestore,
): Promise<void> {
  const { manifest } = restore;
  const names = resolveReplacedMigrations(manifest.migrations, migrations);
  const known = migrations.slice(0, names.length);
  if (known.map(({ name }) => name).join() !== names.join()) {
    throw new StoreError('The backup is from a newer version of this program. Start that version or a newer one.');
  }
  await context.db.transaction().execute(async (db) => {
    if (await wasRestored(db, manifest.id)) return;
    // Apply only the migrations that the backup contains, because its rows have the columns of these migrations. Apply
    // later migrations after inserting the rows, so that they convert the rows.
    const applied = await migrateInTransaction(db, known);
    if (applied.length < known.length) {
      throw new StoreError(
        `The database is not empty, so the backup in ${restore.directory} was not restored. Set DATABASE_URL to an empty ` +
          'database and start the service again.',
      );
    }
    await insertRows(db, join(restore.directory, 'database'));
    await migrateInTransaction(db, migrations);
    await forgetLost({ ...context, db }, manifest.region, new Date(manifest.createdAt));
    // A database comment marks the restore as done, in the same transaction as the rows. `wasRestored` reads it.
    await sql`comment on table schema_migration is ${sql.lit(`restored ${manifest.id}`)}`.execute(db);
  });
}

async function wasRestored(db: Database, backupId: string): Promise<boolean> {
  const { rows } = await sql<{ mark: string | null }>`
    select obj_description(to_regclass('schema_migration'), 'pg_class') as mark`.execute(db);
  return rows[0]?.mark === `restored ${backupId}`;
}

async function insertRows(db: Database, directory: string): Promise<void> {
  const present = await readdir(directory);
  const tables = await parentsFirst(db);
  const unknown = present.find((table) => !tables.includes(table));
  if (unknown !== undefined) throw new StoreError(`The backup has a table that this version does not have: ${unknown}`);
  for (const table of tables.filter((name) => present.includes(name))) {
    for (const file of await readdir(join(directory, table))) {
      const rows = await readFile(join(directory, table, file), 'utf8');
      const columns = sql`json_populate_recordset(null::${sql.id(table)}, ${rows}::json)`;
      await sql`insert into ${sql.id(table)} select * from ${columns}`.execute(db);
    }
  }
}

/** All tables, ordered so that each comes after the tables its foreign keys reference. */
async function parentsFirst(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ child: string; parent: string }>`select child.relname as child, parent.relname as parent
    from pg_constraint join pg_class child on child.oid = conrelid join pg_class parent on parent.oid = confrelid
    where contype = 'f' and connamespace = current_schema()::regnamespace`.execute(db);
  const ordered = new Set<string>();
  const add = (table: string) => {
    for (const { child, parent } of rows) if (child === table && !ordered.has(parent)) add(parent);
    ordered.add(table);
  };
  for (const table of await listTableNames(db)) add(table);
  return [...ordered];
}

/** Ends instances and sessions, which do not run on this machine. Reopens deployments and builds to prepare them again. */
async function forgetLost(
  context: { readonly db: Database; readonly now: () => Date },
  region: string,
  createdAt: Date,
): Promise<void> {
  await endLostSessions(context, region, createdAt);
  await resetDeploymentsAfterRestore(context, region);
  await requeueBuildsAfterRestore(context, region, findRecentlyServingBuilds);
}
