import type { ResourceMetrics } from '@bothost/contract';

/** A row of metrics. Its times are strings if `to_json` produced the row, and dates if the database driver did. */
export type StoredMetrics = {
  readonly [Name in
    | 'sample_count'
    | 'cpu_p50'
    | 'cpu_p90'
    | 'cpu_p95'
    | 'cpu_p99'
    | 'memory_p50'
    | 'memory_p90'
    | 'memory_p95'
    | 'memory_p99']: number;
} & {
  readonly id: string;
  readonly session_id: string;
  readonly timeseries: { t: number; c: number; m: number }[];
  readonly event_at: Date | string;
  readonly created_at: Date | string;
};

export function toResourceMetrics(row: StoredMetrics): ResourceMetrics {
  return {
    id: row.id,
    sessionId: row.session_id,
    sampleCount: row.sample_count,
    cpuMillicoresP50: row.cpu_p50,
    cpuMillicoresP90: row.cpu_p90,
    cpuMillicoresP95: row.cpu_p95,
    cpuMillicoresP99: row.cpu_p99,
    memoryBytesP50: row.memory_p50,
    memoryBytesP90: row.memory_p90,
    memoryBytesP95: row.memory_p95,
    memoryBytesP99: row.memory_p99,
    timeseries: row.timeseries,
    eventTs: new Date(row.event_at).toISOString(),
    createdAt: new Date(row.created_at).toISOString(),
  };
}
