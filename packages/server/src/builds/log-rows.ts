import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';

/** If `isDetail` is true, only the full log shows the line. */
export type StoredLine = {
  readonly line: number;
  readonly at: Date;
  readonly text: string;
  readonly isDetail: boolean;
};

/** A tab before the stored text marks a detail. `build-log.ts` replaces the tabs in texts with spaces. */
const detailMark = '\t';

/** Inserts lines and skips existing ones, so that a retried write adds no line twice. */
export async function insertLines(db: Database, buildId: string, lines: readonly StoredLine[]): Promise<void> {
  if (lines.length === 0) return;
  const rows = lines.map(({ text, isDetail, ...row }) => ({ ...row, text: isDetail ? `${detailMark}${text}` : text }));
  await sql`insert into build_log_lines (build_id, line, at, text)
    select ${buildId}::uuid, line, at, text from json_to_recordset(${JSON.stringify(rows)}::json)
      as given (line integer, at timestamptz, text text)
    on conflict do nothing`.execute(db);
}

/** Reads the lines whose number is `from` or higher, with or without detail lines. */
export async function readLines(
  db: Database,
  buildId: string,
  page: { readonly from: number; readonly limit: number; readonly isFull: boolean },
): Promise<StoredLine[]> {
  const rows = await db
    .selectFrom('build_log_lines')
    .select(['line', 'at', 'text'])
    .where('build_id', '=', buildId)
    .where('line', '>=', page.from)
    .$if(!page.isFull, (query) => query.where('text', 'not like', `${detailMark}%`))
    .orderBy('line')
    .limit(page.limit)
    .execute();
  return rows.map(({ text, ...row }) => {
    const isDetail = text.startsWith(detailMark);
    return { ...row, text: isDetail ? text.slice(detailMark.length) : text, isDetail };
  });
}

/** The number of stored lines, which is also the number of the next line. */
export async function countLines(db: Database, buildId: string): Promise<number> {
  const { next } = await db
    .selectFrom('build_log_lines')
    .select(sql<number>`coalesce(max(line) + 1, 0)`.as('next'))
    .where('build_id', '=', buildId)
    .executeTakeFirstOrThrow();
  return next;
}
