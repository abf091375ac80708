import type { Database, StoredSessionEvent } from '../store/tables.ts';
import { type BotAddress, toAddressColumns } from './address.ts';
import {
  appendInstanceEvent,
  countInstancesOfDeployment,
  deleteEndedInstances,
  endInstancesOfRegion,
  findInstanceById,
  type InstanceRow,
  insertInstances,
  listOpenInstanceRows,
  releaseInstanceRow,
  retireInstanceRow,
  updateInstanceIfInState,
} from './rows.ts';

export type OpenInstanceRow = InstanceRow;

export function listOpenInstances(db: Database, hostId: string): Promise<OpenInstanceRow[]> {
  return listOpenInstanceRows(db, hostId);
}

/**
 * Creates instances until the warm pool has `idle` instances, but never more than `maxAgents` for the deployment.
 * Returns the number of created instances. Call this in a transaction that holds the lock of the agent.
 */
export async function provisionInstances(
  context: { db: Database; now: () => Date; newId: () => string; host: { readonly id: string } },
  pool: { deploymentId: string; agentId: string; idle: number; maxAgents: number },
): Promise<number> {
  const count = await countInstancesOfDeployment(context.db, pool.deploymentId);
  const missing = Math.max(0, Math.min(pool.idle - count.idle, pool.maxAgents - count.all));
  const row = () => ({
    id: context.newId(),
    deployment_id: pool.deploymentId,
    agent_id: pool.agentId,
    host_id: context.host.id,
    state: 'starting' as const,
    created_at: context.now(),
  });
  await insertInstances(context.db, Array.from({ length: missing }, row));
  return missing;
}

/** Marks a starting instance as ready. Returns undefined if the instance is being stopped. */
export function markReady(
  context: { db: Database; now: () => Date },
  instanceId: string,
  address: BotAddress,
  reportsSession: boolean,
): Promise<OpenInstanceRow | undefined> {
  const change = {
    state: 'ready' as const,
    ...toAddressColumns(address),
    reports_session: reportsSession,
    ready_at: context.now(),
  };
  return updateInstanceIfInState(context.db, instanceId, ['starting', 'ready'], change);
}

/** Removes an idle instance from the warm pool. Returns false if a session claimed the instance first. */
export async function retireInstance(db: Database, instanceId: string): Promise<boolean> {
  return (await retireInstanceRow(db, instanceId)) !== undefined;
}

/** Takes a session from its instance, which is then stopped. Returns false if the session has another instance. */
export async function releaseInstance(db: Database, instanceId: string, sessionId: string): Promise<boolean> {
  return (await releaseInstanceRow(db, instanceId, sessionId)) !== undefined;
}

export async function markStopping(db: Database, instanceId: string): Promise<void> {
  await updateInstanceIfInState(db, instanceId, ['starting', 'ready'], { state: 'stopping' });
}

/** Marks an instance as ended. Returns undefined if it had already ended. */
export function markEnded(
  context: { db: Database; now: () => Date },
  instanceId: string,
): Promise<OpenInstanceRow | undefined> {
  const change = { state: 'ended' as const, ended_at: context.now() };
  return updateInstanceIfInState(context.db, instanceId, ['starting', 'ready', 'stopping'], change);
}

export function endInstances(db: Database, region: string, at: Date): Promise<void> {
  return endInstancesOfRegion(db, region, at);
}

/** Stores an event. Returns the id of the instance's session, if any, so that the caller can add the event to it. */
export function recordInstanceEvent(
  db: Database,
  instanceId: string,
  notice: StoredSessionEvent,
): Promise<string | null> {
  return appendInstanceEvent(db, instanceId, notice);
}

export function purgeInstances(db: Database, endedBefore: Date, limit: number): Promise<number> {
  return deleteEndedInstances(db, endedBefore, limit);
}

export function findInstance(db: Database, instanceId: string): Promise<OpenInstanceRow | undefined> {
  return findInstanceById(db, instanceId);
}
