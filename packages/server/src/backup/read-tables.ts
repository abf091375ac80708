import { type RawBuilder, sql } from 'kysely';
import { eventsWithoutText } from '../sessions/event-text.ts';
import type { Database } from '../store/tables.ts';

/** Rows per batch. A row has at most about 128 KiB of JSON. */
const batchRows = 200;

/** A batch of rows of one table, as the text of a JSON array. */
export type TableBatch = { readonly table: string; readonly number: number; readonly rows: string };

/** Rows without what bots wrote: no last output, and no rows of logs, whose files are not in the backup. */
const rowsWithoutBotText: ReadonlyMap<string, RawBuilder<unknown>> = new Map([
  [
    'sessions',
    sql`select (row_to_json(t)::jsonb || jsonb_build_object('events', ${eventsWithoutText}))::text as row from sessions t`,
  ],
  [
    'deployments',
    sql`select (row_to_json(t)::jsonb || case when last_exit is null then '{}'
      else jsonb_build_object('last_exit', last_exit::jsonb || '{"tail": ""}') end)::text as row from deployments t`,
  ],
  ['instance_logs', sql`select ''::text as row where false`],
]);

/**
 * Reads all tables in batches. Call this in a `repeatable read` transaction, so that all tables are read from one snapshot.
 */
export async function* readTables(db: Database, content: 'all' | 'without-bot-text'): AsyncGenerator<TableBatch> {
  for (const table of await listTableNames(db)) {
    const all = sql`select row_to_json(t)::text as row from ${sql.id(table)} t`;
    const rows = content === 'all' ? all : (rowsWithoutBotText.get(table) ?? all);
    // The database serializes the rows, so values of all types keep their precision.
    await sql`declare backup no scroll cursor for ${rows}`.execute(db);
    for (let number = 0; ; number += 1) {
      const { rows: batch } = await sql<{ row: string }>`fetch ${sql.lit(batchRows)} from backup`.execute(db);
      if (batch.length > 0) yield { table, number, rows: `[${batch.map(({ row }) => row).join(',')}]` };
      if (batch.length < batchRows) break;
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
