import type { ObservedInstance, Runtime } from '@bothost/runtime';
import { type DeploymentToReconcile, listDeploymentsToReconcile } from '../agents/deployment-state.ts';
import { listOpenInstances, type OpenInstanceRow } from '../instances/lifecycle.ts';
import { listOpenSessions, type OpenSessionRow } from '../sessions/progress.ts';
import { readSnapshot } from '../store/snapshot.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Database } from '../store/tables.ts';
import type { ObservedState, PlannedDeployment, PlannedInstance, PlannedSession } from './plan.ts';

/** The part of the observed state that is in the memory of this process. */
export type InMemoryObservedState = {
  readonly isOwned: (sessionId: string) => boolean;
  readonly isBusyInstance: (instanceId: string) => boolean;
  readonly isBusyDeployment: (deploymentId: string) => boolean;
  readonly restAfterFailureUntil: (deploymentId: string) => Date | null;
  readonly serverId: string;
  readonly draining: boolean;
};

/** The database rows from which the observed state was computed, by their ids. The execution of actions needs these rows. */
export type ObservedRows = {
  readonly deployments: ReadonlyMap<string, DeploymentToReconcile>;
  readonly instances: ReadonlyMap<string, OpenInstanceRow>;
  readonly sessions: ReadonlyMap<string, OpenSessionRow>;
};

/**
 * Reads the observed state of a host. All rows come from one database snapshot. Otherwise, a session could claim an instance
 * between two queries, and the instance would be stopped because it seems to have no session. The runtime is read after the
 * snapshot, so an instance that was ready in the snapshot and is missing in the runtime has exited.
 */
export async function readObservedState(
  context: Pick<StoreContext, 'db' | 'now'> & {
    runtime: Pick<Runtime, 'list' | 'findReplaceable'>;
    host: { id: string; region: string };
  },
  inMemory: InMemoryObservedState,
): Promise<{ observed: ObservedState; rows: ObservedRows }> {
  const { db, host } = context;
  const { sessions, instances, deployments } = await readRows(db, host);
  const known = new Set(instances.map((instance) => instance.id));
  const listed = await context.runtime.list();
  const states = new Map(listed.map(({ instanceId, state }) => [instanceId, state]));
  const replaceable = context.runtime.findReplaceable();
  const observed: ObservedState = {
    now: context.now(),
    draining: inMemory.draining,
    deployments: deployments.map((row) => toPlannedDeployment(row, inMemory)),
    instances: instances.map((row) => toPlannedInstance(row, states, replaceable, inMemory)),
    sessions: sessions.flatMap((row) => toPlannedSessions(row, inMemory)),
    orphans: [...states.keys()].filter((id) => !known.has(id) && !inMemory.isBusyInstance(id)),
  };
  return { observed, rows: { deployments: byId(deployments), instances: byId(instances), sessions: byId(sessions) } };
}

function readRows(db: Database, host: { id: string; region: string }) {
  return readSnapshot(db, async (snapshot) => {
    const sessions = await listOpenSessions(snapshot, host.region);
    const instances = await listOpenInstances(snapshot, host.id);
    const ids = [...new Set(instances.map((instance) => instance.deployment_id))];
    return { sessions, instances, deployments: await listDeploymentsToReconcile(snapshot, host.region, ids) };
  });
}

function toPlannedDeployment(row: DeploymentToReconcile, inMemory: InMemoryObservedState): PlannedDeployment {
  return {
    id: row.id,
    state: row.state,
    serving: row.active_deployment_id === row.id && row.deleted_at === null && row.state === 'ready',
    superseded:
      row.deleted_at !== null || (row.active_deployment_id !== row.id && row.desired_deployment_id !== row.id),
    prepared: row.prepared !== null && row.source.kind === 'directory',
    busy: inMemory.isBusyDeployment(row.id) || row.build_state === 'pending' || row.build_state === 'building',
    minAgents: row.min_agents,
    maxAgents: row.max_agents,
    restAfterFailureUntil: inMemory.restAfterFailureUntil(row.id),
  };
}

function toPlannedInstance(
  row: OpenInstanceRow,
  states: ReadonlyMap<string, ObservedInstance['state']>,
  replaceable: ReadonlySet<string>,
  inMemory: InMemoryObservedState,
): PlannedInstance {
  const state = states.get(row.id) ?? 'exited';
  return {
    id: row.id,
    deploymentId: row.deployment_id,
    sessionId: row.session_id,
    state: row.state === 'ended' ? 'stopping' : row.state,
    readyAt: row.ready_at,
    running: state !== 'exited',
    leaving: state === 'leaving',
    replaceable: replaceable.has(row.id),
    busy: inMemory.isBusyInstance(row.id),
  };
}

function toPlannedSessions(row: OpenSessionRow, inMemory: InMemoryObservedState): PlannedSession[] {
  if (row.state === 'ended') return [];
  const relayed = row.transport === 'websocket' && row.relay_id !== null;
  const owned = inMemory.isOwned(row.id);
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
      owned,
      relayLost: relayed && row.relay_id !== inMemory.serverId,
    },
  ];
}

function byId<Row extends { id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}
