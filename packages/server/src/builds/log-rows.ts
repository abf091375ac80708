import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';

export type StoredLine = { readonly line: number; readonly at: Date; readonly text: string };

/** Skips existing lines, so that a retried write adds none twice. */
export async function insertLines(db: Database, buildId: string, lines: readonly StoredLine[]): Promise<void> {
  if (lines.length === 0) return;
  await sql`insert into build_log_lines (build_id, line, at, text)
    select ${buildId}::uuid, line, at, text from json_to_recordset(${JSON.stringify(lines)}::json)
      as given (line integer, at timestamptz, text text)
    on conflict do nothing`.execute(db);
}

/** Lines with number `from` or higher. */
export function readLines(db: Database, buildId: string, from: number, limit: number): Promise<StoredLine[]> {
  return db
    .selectFrom('build_log_lines')
    .select(['line', 'at', 'text'])
    .where('build_id', '=', buildId)
    .where('line', '>=', from)
    .orderBy('line')
    .limit(limit)
    .execute();
}

/** The number of lines, which is also the number of the next one. */
export async function countLines(db: Database, buildId: string): Promise<number> {
  const { next } = await db
    .selectFrom('build_log_lines')
    .select(sql<number>`coalesce(max(line) + 1, 0)`.as('next'))
    .where('build_id', '=', buildId)
    .executeTakeFirstOrThrow();
  return next;
}
