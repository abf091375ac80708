import type { Runtime } from '@bothost/runtime';
import type { RawBuilder } from 'kysely';
import type { StoreContext } from '../store/store-context.ts';
import type { Database, StoredSessionEvent } from '../store/tables.ts';
import { type BotAddress, getInstanceAddress } from './address.ts';
import { claimInstanceRow, countInstancesByDeployment } from './rows.ts';

export type InstanceClaimContext = Pick<StoreContext, 'db' | 'now' | 'newId'> & {
  readonly host: { readonly id: string };
  readonly runtime: Pick<Runtime, 'isAddressCurrent'>;
};

/**
 * An instance claimed for a session. `address` is null unless the instance is ready (a warm start). Also null if the runtime cannot
 * confirm that the address still belongs to the instance. The next reconcile pass with a confirmed address dispatches the session; if
 * the instance exits first, the session gets another instance.
 */
export type InstanceClaim = {
  readonly instanceId: string;
  readonly address: BotAddress | null;
  readonly readyAt: Date | null;
  readonly reportsSession: boolean;
  /** Events that the instance recorded before it had a session. */
  readonly notices: readonly StoredSessionEvent[];
};

/**
 * Claims an instance for a session. Call this in a transaction that holds the agent's lock. `insertion` is the SQL statement that
 * creates the session. Omit it if the session already exists. Returns null if `maxAgents` instances of the agent already have a
 * session.
 */
export async function claimInstance(
  context: InstanceClaimContext,
  request: { sessionId: string; agentId: string; deploymentId: string; maxAgents: number },
  insertion?: RawBuilder<unknown>,
): Promise<InstanceClaim | null> {
  const hostId = context.host.id;
  const claim = { ...request, hostId, newInstanceId: context.newId(), now: context.now() };
  const row = await claimInstanceRow(context.db, claim, insertion);
  if (row === undefined) return null;
  const isReachable = row.state === 'ready' && context.runtime.isAddressCurrent(row.id);
  return {
    instanceId: row.id,
    address: isReachable ? getInstanceAddress(row) : null,
    readyAt: row.ready_at,
    reportsSession: row.reports_session,
    notices: row.notices,
  };
}

export function countInstances(context: { db: Database }, agentId: string) {
  return countInstancesByDeployment(context.db, agentId);
}
