import type { Database } from '../store/tables.ts';
import {
  lockAgent,
  lockWithActiveDeployment,
  openDeployments,
  serveDesired,
  updateAgent,
  updateDeployment,
} from './rows.ts';

/** The deployment that new sessions of an agent run on. */
export type ServingDeployment = {
  readonly agentId: string;
  readonly deploymentId: string;
  readonly maxAgents: number;
  readonly maxSessionSeconds: number;
  readonly websocketAuth: 'none' | 'token';
};

/**
 * Locks an agent for a start and says what serves in this region. `not-found` and `not-ready` are the two ways in which
 * nothing does. Call it in a transaction.
 */
export async function lockForStart(
  db: Database,
  organizationId: string,
  agentName: string,
  region: string,
): Promise<ServingDeployment | 'not-found' | 'not-ready'> {
  const row = await lockWithActiveDeployment(db, organizationId, agentName);
  if (row === undefined) return 'not-found';
  // Its bots are another server's.
  if (row.region !== region) return 'not-ready';
  const { deploymentId, maxAgents, maxSessionSeconds, websocketAuth } = row;
  if (deploymentId === null || maxAgents === null || maxSessionSeconds === null || websocketAuth === null) {
    return 'not-ready';
  }
  return { agentId: row.agentId, deploymentId, maxAgents, maxSessionSeconds, websocketAuth };
}

/** Locks an agent for a change of its instances. Call it in a transaction. */
export async function lockForScaling(db: Database, agentId: string): Promise<void> {
  await lockAgent(db, agentId);
}

/** A deployment as the reconciler sees it. */
export type OpenDeployment = Awaited<ReturnType<typeof openDeployments>>[number];

export function listOpenDeployments(
  db: Database,
  region: string,
  alsoIds: readonly string[],
): Promise<OpenDeployment[]> {
  return openDeployments(db, region, alsoIds);
}

/** Records what the runtime made of a deployment and lets it serve, if it is still the wanted one. */
export async function activateDeployment(
  context: { db: Database; now: () => Date },
  deployment: { readonly id: string; readonly agentId: string },
  prepared: Readonly<Record<string, string | number | boolean | null>>,
): Promise<void> {
  await context.db.transaction().execute(async (db) => {
    const now = context.now();
    await lockAgent(db, deployment.agentId);
    await updateDeployment(db, deployment.id, { state: 'ready', prepared: JSON.stringify(prepared), updated_at: now });
    await serveDesired(db, deployment.agentId, deployment.id, now);
  });
}

/** Nothing is left of what the runtime made of a deployment. */
export async function forgetPrepared(context: { db: Database; now: () => Date }, deploymentId: string): Promise<void> {
  await updateDeployment(context.db, deploymentId, { prepared: null, updated_at: context.now() });
}

/** The deployment before goes on serving (architecture; cloud API 8, "Deployment"). */
export async function failDeployment(
  context: { db: Database; now: () => Date },
  deployment: { readonly id: string; readonly agentId: string },
  message: string,
): Promise<void> {
  const now = context.now();
  await updateDeployment(context.db, deployment.id, { state: 'failed', error: message, updated_at: now });
  await updateAgent(context.db, deployment.agentId, { updated_at: now });
}

/** Notes why instances of a deployment that was prepared do not start, or that they do again (null). */
export async function noteStart(
  context: { db: Database; now: () => Date },
  deploymentId: string,
  message: string | null,
): Promise<void> {
  const error = message === null ? null : message.slice(0, 2_000);
  await updateDeployment(context.db, deploymentId, { error, updated_at: context.now() });
}
