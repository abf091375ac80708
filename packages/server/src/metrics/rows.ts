import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, SessionMetricsTable } from '../store/tables.ts';
import type { Sample } from './series.ts';

export type SessionMetricsRow = Selectable<SessionMetricsTable>;

export type SampleBatch = { readonly sessionId: string; readonly samples: readonly Sample[] };

/** Inserts samples of many sessions in one statement. Drops samples of sessions that were removed. */
export async function insertSamples(db: Database, batches: readonly SampleBatch[]): Promise<void> {
  if (batches.length === 0) return;
  const ids = batches.map((batch) => batch.sessionId);
  const firsts = batches.map((batch) => new Date((batch.samples[0]?.[0] ?? 0) * 1000));
  const samples = batches.map((batch) => JSON.stringify(batch.samples));
  await sql`insert into session_samples (session_id, first_at, samples)
    select batch.id, batch.first_at, batch.samples
    from unnest(${ids}::uuid[], ${firsts}::timestamptz[], ${samples}::json[]) as batch (id, first_at, samples)
    where exists (select from sessions where sessions.id = batch.id and state <> 'ended')
    on conflict do nothing`.execute(db);
}

export async function listSamples(db: Database, sessionId: string): Promise<Sample[]> {
  const rows = await db
    .selectFrom('session_samples')
    .select('samples')
    .where('session_id', '=', sessionId)
    .orderBy('first_at')
    .execute();
  return rows.flatMap((row) => row.samples);
}

export async function deleteSamples(db: Database, sessionId: string): Promise<void> {
  await db.deleteFrom('session_samples').where('session_id', '=', sessionId).execute();
}

export async function insertMetrics(db: Database, row: Insertable<SessionMetricsTable>): Promise<void> {
  await db.insertInto('session_metrics').values(row).execute();
}
