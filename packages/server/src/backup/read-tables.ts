import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';

/** Rows per batch. A row has at most about 128 KiB of JSON. */
const batchRows = 200;

/** A batch of rows of one table, as the text of a JSON array. */
export type TableBatch = { readonly table: string; readonly number: number; readonly rows: string };

/** Reads all tables in batches. Call this in a `repeatable read` transaction, so that all tables are read from one snapshot. */
export async function* readTables(db: Database): AsyncGenerator<TableBatch> {
  for (const table of await listTableNames(db)) {
    // The database serializes the rows, so values of all types keep their precision.
    await sql`declare backup no scroll cursor for select row_to_json(t)::text as row from ${sql.id(table)} t`.execute(
      db,
    );
    for (let number = 0; ; number += 1) {
      const { rows } = await sql<{ row: string }>`fetch ${sql.lit(batchRows)} from backup`.execute(db);
      if (rows.length > 0) yield { table, number, rows: `[${rows.map(({ row }) => row).join(',')}]` };
      if (rows.length < batchRows) break;
    }
    await sql`close backup`.execute(db);
  }
}

/** The names of the service's tables, except for the table that records migrations. */
export async function listTableNames(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname <> 'schema_migration'
    order by relname`.execute(db);
  return rows.map(({ name }) => name);
}
