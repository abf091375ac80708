import type { Database } from '../store/tables.ts';
import { deriveNameBasedUuid } from '../store/uuid.ts';
import { computePercentiles } from './percentiles.ts';
import { deleteSamples, insertMetrics, listSamples, type SessionMetricsRow } from './rows.ts';
import { computeSeries, type Sample } from './series.ts';

type Context = { db: Database };

/** Stores the final metrics of a session, if there are samples. Call this in the transaction that ends the session. */
export async function storeFinalMetrics(context: Context, sessionId: string, late: readonly Sample[]): Promise<void> {
  const stored = await listSamples(context.db, sessionId);
  const row = summarize(sessionId, merge(stored, late));
  if (row !== null) await insertMetrics(context.db, { ...row, timeseries: JSON.stringify(row.timeseries) });
  await deleteSamples(context.db, sessionId);
}

/** Returns the metrics of an open session up to now, in the same form as the final metrics of an ended session. */
export async function computeOpenSessionMetrics(
  context: Context,
  sessionId: string,
): Promise<SessionMetricsRow | null> {
  return summarize(sessionId, await listSamples(context.db, sessionId));
}

function merge(stored: readonly Sample[], late: readonly Sample[]): readonly Sample[] {
  const known = stored.at(-1)?.[0] ?? 0;
  return [...stored, ...late.filter(([t]) => t > known)];
}

function summarize(sessionId: string, samples: readonly Sample[]): SessionMetricsRow | null {
  const cpu = computePercentiles(samples.map(([, c]) => c));
  const memory = computePercentiles(samples.map(([, , m]) => m));
  const first = samples[0];
  const last = samples.at(-1);
  if (cpu === null || memory === null || first === undefined || last === undefined) return null;
  return {
    session_id: sessionId,
    id: deriveNameBasedUuid(sessionId, 'resource metrics'),
    sample_count: samples.length,
    cpu_p50: cpu.p50,
    cpu_p90: cpu.p90,
    cpu_p95: cpu.p95,
    cpu_p99: cpu.p99,
    memory_p50: memory.p50,
    memory_p90: memory.p90,
    memory_p95: memory.p95,
    memory_p99: memory.p99,
    timeseries: computeSeries(samples),
    event_at: new Date(last[0] * 1000),
    created_at: new Date(first[0] * 1000),
  };
}
