import pg from 'pg';
import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import { type Benchmark, type BenchmarkFigure, formatPerSecond } from '../figure.ts';
import { compareServersUnderLoad } from '../load.ts';
import { startBenchmarkProgram } from '../program.ts';
import { waitUntil } from '../wait-until.ts';

const limit = { least: 0.8 } as const;
/**
 * Number of sessions with a time series of 720 points, the maximum length. All other sessions have 12 points, which cover one
 * minute.
 */
const longSessions = 500;

/** Compares `getSession` with a bare Fastify route that reads the same rows by primary key and sends them without validation. */
export const sessionReadBench: Benchmark = {
  name: 'get-session',
  run: ({ quick, log, report }) => {
    const agent = { name: 'archive', bot: 'tiny', minAgents: 0, maxAgents: 1 } as const;
    return withService({ agents: [agent] }, async (service) => {
      const bare = await startBenchmarkProgram('bare-route', service.databaseArguments);
      try {
        let stored = 0;
        for (const count of quick ? [1_000, 50_000] : [1_000, 1_000_000]) {
          log(`storing ${count} sessions`);
          await storeSessions(service.database, agent.name, stored, count);
          await checkpoint(service);
          stored = count;
          for (const points of [12, 720]) {
            report(await measure(service, agent.name, bare.origin, { points, count, quick }));
          }
        }
      } finally {
        await bare.stop();
      }
    });
  },
};

async function measure(
  service: BenchmarkedService,
  agent: string,
  bareOrigin: string,
  { points, count, quick }: { points: number; count: number; quick: boolean },
): Promise<BenchmarkFigure> {
  const text = `select session_id from session_metrics where sample_count = $1 order by random() limit 20000`;
  const ids: string[] = (await service.database.query(text, [points * 5])).rows.map((row) => row.session_id);
  const pick = () => ids[Math.floor(Math.random() * ids.length)] ?? '';
  const headers = { authorization: `Bearer ${service.privateKey}` };
  await requireSame(
    `${service.origin}/v1/agents/${agent}/sessions/`,
    headers,
    `${bareOrigin}/sessions/`,
    pick(),
    points,
  );
  const targets = [
    { origin: service.origin, headers, path: () => `/v1/agents/${agent}/sessions/${pick()}` },
    { origin: bareOrigin, path: () => `/sessions/${pick()}` },
  ];
  const options = { connections: 16, seconds: quick ? 1 : 4, rounds: quick ? 3 : 7 };
  const { perSecond: speeds, ratios } = await compareServersUnderLoad(targets, options);
  return {
    what: `getSession, ${points} points, ${count.toLocaleString('en')} sessions stored`,
    ours: formatPerSecond(speeds[0] ?? 0),
    reference: `${formatPerSecond(speeds[1] ?? 0)} bare route`,
    ratio: ratios[0] ?? null,
    limit,
  };
}

/**
 * Fails unless `getSession` and the bare route return the same time series, because a fast but wrong response must not count.
 */
async function requireSame(
  ours: string,
  headers: Record<string, string>,
  bare: string,
  id: string,
  points: number,
): Promise<void> {
  const read = async (url: string) => (await fetch(url, { headers })).json() as Promise<Record<string, unknown>>;
  const [full, plain] = await Promise.all([read(ours + id), read(bare + id)]);
  const series = (value: unknown) => JSON.stringify((value as { timeseries: unknown[] }).timeseries);
  const [one, other] = [series(full['resourceMetrics']), series(plain['metrics'])];
  if (one !== other || JSON.parse(one).length !== points)
    throw new Error(`getSession and the bare route did not return the same time series of ${points} points.`);
}

/** Inserts rows of ended sessions, one second apart, as the service stores them. */
async function storeSessions(database: pg.Pool, agent: string, from: number, to: number): Promise<void> {
  const ids = await waitUntil('the agent', async () => {
    const text = `select id, organization_id, desired_deployment_id from agents where name = $1`;
    return (await database.query(text, [agent])).rows[0];
  });
  await database.query(
    `insert into sessions (id, organization_id, agent_id, deployment_id, state, transport, created_at, updated_at,
      requested_at, claimed_at, ready_at, bot_started_at, cold_start, completion_status, ended_at)
    select gen_random_uuid(), $1, $2, $3, 'ended', 'none', at, at + interval '1 minute', at,
      at + interval '3 ms', at, at + interval '5 ms', false, 'HTTP_COMPLETED', at + interval '1 minute'
    from (select now() - number * interval '1 second' as at from generate_series($4::int, $5::int) as number) as times`,
    [ids.organization_id, ids.id, ids.desired_deployment_id, from + 61, to + 60],
  );
  await database.query(
    `insert into session_metrics (id, session_id, sample_count, cpu_p50, cpu_p90, cpu_p95, cpu_p99,
      memory_p50, memory_p90, memory_p95, memory_p99, timeseries, event_at, created_at)
    select gen_random_uuid(), id, points * 5, 11, 12, 13, 14, 50000001, 50000002, 50000003, 50000004,
      case points when 720 then $2::json else $3::json end, ended_at, ended_at
    from (
      select id, ended_at, case when row_number() over () <= $1 then 720 else 12 end as points from sessions
      where not exists (select from session_metrics where session_id = sessions.id)
    ) as missing`,
    [from === 0 ? longSessions : 0, series(720), series(12)],
  );
  await database.query('vacuum analyze sessions, session_metrics');
}

/**
 * Runs a checkpoint before the measurement, because PostgreSQL would otherwise write the inserted rows to disk during it. Only a
 * superuser may run a checkpoint.
 */
async function checkpoint({ databaseArguments: [host, , database] }: BenchmarkedService): Promise<void> {
  const client = new pg.Client({ host, database, user: 'postgres', port: 5432 });
  await client.connect();
  await client.query('checkpoint');
  await client.end();
}

function series(points: number): string {
  const begin = 1_700_000_000;
  const list = Array.from({ length: points }, (_, index) => ({
    t: begin + index * 5,
    c: (index * 37) % 1000,
    m: 50_000_000 + ((index * 7919) % 1_000_000),
  }));
  return JSON.stringify(list);
}
