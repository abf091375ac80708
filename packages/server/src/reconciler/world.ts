import type { Runtime } from '@bothost/runtime';
import { listOpenDeployments, type OpenDeployment } from '../agents/deployment.ts';
import { listOpenInstances, type OpenInstance } from '../instances/lifecycle.ts';
import { listOpenSessions, type OpenSession } from '../sessions/progress.ts';
import type { Database } from '../store/tables.ts';
import type { PlannedDeployment, PlannedInstance, PlannedSession, World } from './plan.ts';

/** What this process knows beside the database. */
export type Memory = {
  readonly isAttended: (sessionId: string) => boolean;
  readonly isBusyInstance: (instanceId: string) => boolean;
  readonly isBusyDeployment: (deploymentId: string) => boolean;
  readonly restAfterFailureUntil: (deploymentId: string) => Date | null;
  readonly serverId: string;
  readonly draining: boolean;
};

/** The rows behind a plan, for the one who executes it. */
export type Rows = {
  readonly deployments: ReadonlyMap<string, OpenDeployment>;
  readonly instances: ReadonlyMap<string, OpenInstance>;
  readonly sessions: ReadonlyMap<string, OpenSession>;
};

/**
 * Reads the world of a host, its rows as they were at one moment: a session that is claimed between two queries would
 * otherwise be an instance without its session, which is stopped. The runtime is asked after the rows: an instance that a
 * row calls ready was running then, so one that is missing now is gone.
 */
export async function readWorld(
  context: { db: Database; now: () => Date; runtime: Pick<Runtime, 'list'>; host: { id: string; region: string } },
  memory: Memory,
): Promise<{ world: World; rows: Rows }> {
  const { db, host } = context;
  const { sessions, instances, deployments } = await readRows(db, host);
  const running = new Set((await context.runtime.list()).map((instance) => instance.instanceId));
  const known = new Set(instances.map((instance) => instance.id));
  const world: World = {
    now: context.now(),
    draining: memory.draining,
    deployments: deployments.map((row) => planDeployment(row, memory)),
    instances: instances.map((row) => planInstance(row, running, memory)),
    sessions: sessions.flatMap((row) => planSession(row, memory)),
    strays: [...running].filter((id) => !known.has(id) && !memory.isBusyInstance(id)),
  };
  return { world, rows: { deployments: byId(deployments), instances: byId(instances), sessions: byId(sessions) } };
}

function readRows(db: Database, host: { id: string; region: string }) {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (transaction) => {
    const sessions = await listOpenSessions(transaction, host.region);
    const instances = await listOpenInstances(transaction, host.id);
    const ids = [...new Set(instances.map((instance) => instance.deployment_id))];
    return { sessions, instances, deployments: await listOpenDeployments(transaction, host.region, ids) };
  });
}

function planDeployment(row: OpenDeployment, memory: Memory): PlannedDeployment {
  return {
    id: row.id,
    state: row.state,
    serving: row.active_deployment_id === row.id && row.deleted_at === null && row.state === 'ready',
    superseded:
      row.deleted_at !== null || (row.active_deployment_id !== row.id && row.desired_deployment_id !== row.id),
    prepared: row.prepared !== null && row.build_id === null,
    busy: memory.isBusyDeployment(row.id),
    minAgents: row.min_agents,
    maxAgents: row.max_agents,
    restAfterFailureUntil: memory.restAfterFailureUntil(row.id),
  };
}

function planInstance(row: OpenInstance, running: ReadonlySet<string>, memory: Memory): PlannedInstance {
  return {
    id: row.id,
    deploymentId: row.deployment_id,
    sessionId: row.session_id,
    state: row.state === 'ended' ? 'stopping' : row.state,
    readyAt: row.ready_at,
    running: running.has(row.id),
    busy: memory.isBusyInstance(row.id),
  };
}

function planSession(row: OpenSession, memory: Memory): PlannedSession[] {
  if (row.state === 'ended') return [];
  const relayed = row.transport === 'websocket' && row.relay_id !== null;
  const attended = memory.isAttended(row.id);
  return [
    {
      id: row.id,
      state: row.state,
      transport: row.transport,
      createdAt: row.created_at,
      requestedAt: row.requested_at,
      botStartedAt: row.bot_started_at,
      maxSeconds: row.max_session_seconds,
      instanceId: row.instance_id,
      attended,
      relayLost: relayed && row.relay_id !== memory.serverId,
    },
  ];
}

function byId<Row extends { id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}
