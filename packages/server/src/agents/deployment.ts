import type { DeploymentProblem } from '@bothost/contract';
import type { PinnedSecrets } from '../secrets/pin.ts';
import type { Database, StoredExit } from '../store/tables.ts';
import { changeDeployment, noteProblem, openDeployments, serveValidated, updateDeployment } from './deployment-rows.ts';
import { lockAgent, lockWithActiveDeployment, updateAgent } from './rows.ts';

/** The serving deployment, on which new sessions of an agent run. */
export type ServingDeployment = {
  readonly agentId: string;
  readonly deploymentId: string;
  readonly maxAgents: number;
  readonly maxSessionSeconds: number;
  readonly websocketAuth: 'none' | 'token';
  /** Its pins, if they could not be decrypted at the last start of an instance; otherwise null. */
  readonly missedSecrets: PinnedSecrets | null;
};

/**
 * Locks an agent for a start and returns its serving deployment in this region, or `not-found` or `not-ready`. Call it in a
 * transaction.
 */
export async function lockForStart(
  db: Database,
  organizationId: string,
  agentName: string,
  region: string,
): Promise<ServingDeployment | 'not-found' | 'not-ready'> {
  const row = await lockWithActiveDeployment(db, organizationId, agentName);
  if (row === undefined) return 'not-found';
  // Another server runs its bots.
  if (row.region !== region) return 'not-ready';
  const { deploymentId, maxAgents, maxSessionSeconds, websocketAuth, secretPins } = row;
  if (deploymentId === null || maxAgents === null || maxSessionSeconds === null || websocketAuth === null) {
    return 'not-ready';
  }
  const pinned = { organizationId, region, pins: secretPins ?? [] };
  const missedSecrets = row.problem === 'PCC_SECRETS_UNAVAILABLE' ? pinned : null;
  return { agentId: row.agentId, deploymentId, maxAgents, maxSessionSeconds, websocketAuth, missedSecrets };
}

/** Locks an agent for a change of its instances. Call it in a transaction. */
export async function lockForScaling(db: Database, agentId: string): Promise<void> {
  await lockAgent(db, agentId);
}

/** A deployment for the reconciler. */
export type OpenDeployment = Awaited<ReturnType<typeof openDeployments>>[number];

export function listOpenDeployments(
  db: Database,
  region: string,
  alsoIds: readonly string[],
): Promise<OpenDeployment[]> {
  return openDeployments(db, region, alsoIds);
}

/**
 * Records the prepared project of a deployment, so that its first instance can start. Also for a deployment that was
 * superseded meanwhile, so that the project can be discarded.
 */
export async function recordPrepared(
  context: { db: Database; now: () => Date },
  deploymentId: string,
  prepared: Readonly<Record<string, string | number | boolean | null>>,
): Promise<void> {
  const now = context.now();
  await context.db.transaction().execute(async (db) => {
    await updateDeployment(db, deploymentId, { prepared: JSON.stringify(prepared), updated_at: now });
    await changeDeployment(db, deploymentId, ['preparing'], { state: 'validating', state_at: now });
  });
}

/**
 * Activates a deployment after its first instance became ready, and ends the previous one in the same transaction. False if
 * it is no longer the desired one.
 */
export function activateDeployment(
  context: { db: Database; now: () => Date },
  deployment: { readonly id: string; readonly agentId: string },
): Promise<boolean> {
  return context.db.transaction().execute(async (db) => {
    await lockAgent(db, deployment.agentId);
    return serveValidated(db, deployment.agentId, deployment.id, context.now());
  });
}

/** Records that the prepared project of a deployment was discarded. */
export async function forgetPrepared(context: { db: Database; now: () => Date }, deploymentId: string): Promise<void> {
  await updateDeployment(context.db, deploymentId, { prepared: null, updated_at: context.now() });
}

/** A problem of a deployment or its instances: a `PCC_` code, a message, and the exit of an instance, if any. */
export type Problem = { readonly code: DeploymentProblem; readonly message: string; readonly exit: StoredExit | null };

/**
 * Fails a deployment for good; the previous one keeps serving. Returns false without a change for a deployment that serves or was
 * superseded.
 */
export function failDeployment(
  context: { db: Database; now: () => Date },
  deployment: { readonly id: string; readonly agentId: string },
  problem: Problem,
): Promise<boolean> {
  const now = context.now();
  const { exit } = problem;
  return context.db.transaction().execute(async (db) => {
    const failed = await changeDeployment(db, deployment.id, ['preparing', 'validating'], {
      state: 'failed',
      state_at: now,
      updated_at: now,
      error: problem.message.slice(0, messageLength),
      error_code: problem.code,
      error_at: now,
      ...(exit === null ? {} : { last_exit: JSON.stringify(exit), restarts: 1 }),
    });
    if (failed) await updateAgent(db, deployment.agentId, { updated_at: now });
    return failed;
  });
}

/** Records why instances of a deployment currently fail, or that they start again (null). */
export async function noteStart(
  context: { db: Database; now: () => Date },
  deploymentId: string,
  problem: Problem | null,
): Promise<void> {
  const now = context.now();
  if (problem === null) {
    const cleared = { error: null, error_code: null, error_at: null, updated_at: now };
    await changeDeployment(context.db, deploymentId, ['validating', 'ready'], cleared);
  } else {
    const message = problem.message.slice(0, messageLength);
    await noteProblem(context.db, deploymentId, { ...problem, message }, now);
  }
}

const messageLength = 2_000;
