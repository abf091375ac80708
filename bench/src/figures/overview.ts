import type pg from 'pg';
import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import { type Benchmark, formatMilliseconds } from '../figure.ts';
import { median } from '../quantile.ts';
import { waitUntil } from '../wait-until.ts';

const limitMs = 300;
const agentCount = 20;
const paths = [
  'overview',
  'statistics?period=hour',
  'statistics?period=day',
  'statistics?period=week',
  'problems?period=week',
];

/** Measures the requests of the overview page with many sessions of the last week, of 20 agents. */
export const overviewBench: Benchmark = {
  name: 'overview',
  run: ({ quick, log, report }) => {
    const count = quick ? 10_000 : 1_000_000;
    const agent = { name: 'agent', bot: 'tiny', minAgents: 0, maxAgents: 1 } as const;
    return withService({ agents: [agent] }, async (service) => {
      log(`storing ${count} sessions`);
      await storeSessions(service.database, agent.name, count);
      log('waiting for the roll-up of the statistics');
      await waitUntil(
        'the roll-up',
        // Days are rolled up one after the other. The newest interval ended at most half an hour and a minute ago.
        async () => {
          const newest = `select from session_statistics where from_at > now() - interval '61 minutes' limit 1`;
          return (await service.database.query(newest)).rowCount || undefined;
        },
        { seconds: 600, everyMs: 1_000 },
      );
      for (const path of paths) {
        const times: number[] = [];
        for (let turn = 0; turn <= (quick ? 3 : 20); turn += 1) times.push(await measureMs(service, path));
        // The first request fills the caches.
        const ours = median(times.slice(1));
        report({
          what: `GET /v1/${path}, ${count.toLocaleString('en')} sessions stored`,
          ours: formatMilliseconds(ours),
          reference: `${limitMs} ms`,
          ratio: ours / limitMs,
          limit: { most: 1 },
        });
      }
    });
  },
};

async function measureMs({ origin, privateKey }: BenchmarkedService, path: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${origin}/v1/${path}`, { headers: { authorization: `Bearer ${privateKey}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`GET /v1/${path} failed with status ${response.status}: ${text}`);
  return performance.now() - startedAt;
}

/** Inserts ended sessions of the last week, one in a hundred failed, of copies of an agent with its deployment. */
async function storeSessions(database: pg.Pool, agent: string, count: number): Promise<void> {
  await waitUntil('the agent', async () => {
    const { rowCount } = await database.query(
      `with copies as (
         insert into agents select (jsonb_populate_record(agents, jsonb_build_object('id', gen_random_uuid(),
           'name', 'agent-' || number, 'active_deployment_id', null, 'desired_deployment_id', null))).*
         from agents, generate_series(2, $2::int) as number
         where name = $1 and active_deployment_id is not null returning id
       )
       insert into deployments select (jsonb_populate_record(deployments, jsonb_build_object('id', gen_random_uuid(),
         'agent_id', copies.id))).*
       from copies, deployments where deployments.activated_at is not null`,
      [agent, agentCount],
    );
    return rowCount || undefined;
  });
  await database.query(
    `insert into sessions (id, organization_id, agent_id, deployment_id, state, transport, created_at, updated_at,
       requested_at, bot_started_at, cold_start, completion_status, ended_at)
     select gen_random_uuid(), organization_id, agent_id, deployments.id, 'ended', 'none', at, at + duration, at,
       at + random() * interval '400 ms', false, case when number % 100 = 0 then 'HTTP_ERROR' else 'HTTP_COMPLETED' end,
       at + duration
     from generate_series(1, $1::int) as number
       cross join lateral (select now() - number * interval '7 days' / $1 as at, random() * interval '8 minutes' as duration) drawn
       join (select deployments.*, organization_id, row_number() over () as position from deployments
         join agents on agents.id = agent_id) deployments on position = 1 + number % $2`,
    [count, agentCount],
  );
  await database.query(
    `insert into session_conversations (session_id, host_id, state, response_p50_ms, response_p95_ms, created_at, ended_at)
     select sessions.id, hosts.id, 'complete', 500 + random() * 1000, 2000, created_at, ended_at from sessions, hosts`,
  );
  await database.query('vacuum analyze sessions, session_conversations');
}
