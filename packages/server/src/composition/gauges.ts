import type { InstanceStartMethod, Runtime } from '@bothost/runtime';
import { sql } from 'kysely';
import { Gauge, type Registry } from 'prom-client';
import type { ServiceContext } from '../context.ts';
import { type AgentValue, addAgentGauge, addGauge, maxLabeledAgents } from '../metrics/telemetry.ts';

/**
 * Groups deployments by how their instances start: forked from a process that has imported the bot (`module`) or only its
 * libraries (`libraries`), or spawned as new processes (`spawn`). Returns the sum of `figure` for each group.
 */
function byLevel(methods: ReturnType<Runtime['startMethods']>, figure: (method: InstanceStartMethod) => number) {
  const sums = new Map<string, number>();
  for (const method of methods.values()) sums.set(method.level, (sums.get(method.level) ?? 0) + figure(method));
  return sums;
}

/** Registers gauges that are read from the database and the runtime on each Prometheus scrape. */
export function addGauges(
  registry: Registry,
  context: Pick<ServiceContext, 'db'> & { readonly runtime: Pick<Runtime, 'isConnected' | 'startMethods'> },
): void {
  const counted = async (query: ReturnType<typeof sql<{ label: string; count: number }>>) => {
    const { rows } = await query.execute(context.db);
    return new Map(rows.map(({ label, count }) => [label, count]));
  };
  addGauge(registry, 'bothost_sessions', 'Sessions that have not ended, by state', 'state', () =>
    counted(sql`select state as label, count(*)::int as count from sessions where state <> 'ended' group by state`),
  );
  const ofAgents = async (value: ReturnType<typeof sql>) => {
    const { rows } = await sql<AgentValue>`select organizations.name as organization, agents.name as agent,
        ${value}::int as value
      from agents join organizations on organizations.id = agents.organization_id
        join deployments on deployments.id = agents.active_deployment_id
      where agents.deleted_at is null order by agents.created_at limit ${maxLabeledAgents}`.execute(context.db);
    return rows;
  };
  addAgentGauge(registry, 'bothost_pool_depth', 'Ready instances of an agent that wait for a session', () =>
    ofAgents(sql`(select count(*) from instances
      where agent_id = agents.id and session_id is null and instances.state = 'ready')`),
  );
  addAgentGauge(registry, 'bothost_agent_sessions', 'Sessions of an agent that have an instance', () =>
    ofAgents(sql`(select count(*) from instances
      where agent_id = agents.id and session_id is not null and instances.state <> 'ended')`),
  );
  addAgentGauge(registry, 'bothost_agent_session_limit', 'Maximum of sessions of an agent at a time', () =>
    ofAgents(sql`deployments.max_agents`),
  );
  addGauge(
    registry,
    'bothost_webhook_deliveries',
    'Webhook deliveries that are not over: pending ones, and retrying ones, which a receiver has not accepted before',
    'state',
    () =>
      counted(sql`select case when error is null then 'pending' else 'retrying' end as label, count(*)::int as count
        from webhook_deliveries where state = 'pending' group by 1`),
  );
  addGauge(registry, 'bothost_builds', 'Builds that are not over, by state', 'state', () =>
    counted(
      sql`select state as label, count(*)::int as count from builds where state in ('pending', 'building') group by state`,
    ),
  );
  addGauge(
    registry,
    'bothost_secret_sets',
    'Secret sets, by how the delivery of their newest revision is',
    'state',
    () =>
      counted(sql`select state as label, count(*)::int as count from secret_sets join secret_deliveries
      on set_id = secret_sets.id and secret_deliveries.revision = secret_sets.revision group by state`),
  );
  addGauge(registry, 'bothost_instances', 'Instances that have not ended, by state', 'state', () =>
    counted(sql`select state as label, count(*)::int as count from instances where state <> 'ended' group by state`),
  );
  new Gauge({
    name: 'bothost_runtime_connected',
    help: 'Whether the platform that runs instances reports their changes: 1 or 0',
    registers: [registry],
    collect() {
      this.set(Number(context.runtime.isConnected()));
    },
  });
  addGauge(
    registry,
    'bothost_deployments_by_start_method',
    'Deployments by how their instances start: forked after importing the bot (module) or its libraries (libraries), or spawned (spawn)',
    'level',
    async () => byLevel(context.runtime.startMethods(), () => 1),
  );
  addGauge(
    registry,
    'bothost_fork_server_memory_bytes',
    'Proportional memory (PSS) of fork servers, by what they imported',
    'level',
    async () => byLevel(context.runtime.startMethods(), ({ memoryBytes }) => memoryBytes ?? 0),
  );
}
