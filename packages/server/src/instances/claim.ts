import type { RawBuilder } from 'kysely';
import type { Database, StoredSessionEvent } from '../store/tables.ts';
import { type BotAddress, getInstanceAddress } from './address.ts';
import { claimInstanceRow, countInstancesByDeployment } from './rows.ts';

/** An instance claimed for a session. `address` is null unless the instance is ready (a warm start). */
export type InstanceClaim = {
  readonly instanceId: string;
  readonly address: BotAddress | null;
  readonly readyAt: Date | null;
  readonly reportsSession: boolean;
  /** Events that the instance recorded before it had a session. */
  readonly notices: readonly StoredSessionEvent[];
};

/**
 * Claims an instance for a session. Call this in a transaction that holds the agent's lock. `first` is the SQL statement that
 * creates the session. Omit it if the session already exists. Returns null if `maxAgents` instances of the agent already have a
 * session.
 */
export async function claimInstance(
  context: { db: Database; now: () => Date; newId: () => string; host: { readonly id: string } },
  wanted: { sessionId: string; agentId: string; deploymentId: string; maxAgents: number },
  first?: RawBuilder<unknown>,
): Promise<InstanceClaim | null> {
  const hostId = context.host.id;
  const claim = { ...wanted, hostId, newInstanceId: context.newId(), now: context.now() };
  const row = await claimInstanceRow(context.db, claim, first);
  if (row === undefined) return null;
  return {
    instanceId: row.id,
    address: row.state === 'ready' ? getInstanceAddress(row) : null,
    readyAt: row.ready_at,
    reportsSession: row.reports_session,
    notices: row.notices,
  };
}

export function countInstances(context: { db: Database }, agentId: string) {
  return countInstancesByDeployment(context.db, agentId);
}
