import type { DeploymentProblem, ImageLayer } from '@bothost/contract';
import type { Database, SessionTransport, StoredInstanceExit } from '../store/tables.ts';
import { type AgentEvent, recordAgentEvent } from '../webhooks/record-event.ts';
import {
  activateValidatedDeployment,
  clearDeploymentProblem,
  listDeploymentRowsToReconcile,
  recordDeploymentProblem,
  removeLastOutputOfSession,
  updateDeployment,
  updateDeploymentIfInState,
  updateUnknownTransports,
} from './deployment-rows.ts';
import { lockAgent, updateAgent } from './rows.ts';

export type DeploymentToReconcile = Awaited<ReturnType<typeof listDeploymentRowsToReconcile>>[number];

export function listDeploymentsToReconcile(
  db: Database,
  region: string,
  alsoIds: readonly string[],
): Promise<DeploymentToReconcile[]> {
  return listDeploymentRowsToReconcile(db, region, alsoIds);
}

/** Records the prepared project of a deployment, even of a superseded one, so that the project is cleaned up later. */
export async function recordPreparedProject(
  context: { db: Database; now: () => Date },
  deploymentId: string,
  prepared: Readonly<Record<string, string | number | boolean | null>>,
): Promise<void> {
  const now = context.now();
  await context.db.transaction().execute(async (db) => {
    const digest = typeof prepared['digest'] === 'string' ? { image_digest: prepared['digest'] } : {};
    const text = JSON.stringify(prepared);
    await updateDeployment(db, deploymentId, { prepared: text, ...digest, image_layers: null, updated_at: now });
    const problem = { error: null, error_code: null, error_at: null, restarts: 0 };
    await updateDeploymentIfInState(db, deploymentId, ['preparing'], {
      state: 'validating',
      state_at: now,
      ...problem,
    });
  });
}

/** Records how far the pull of a deployment's image is. */
export async function recordImageProgress(
  db: Database,
  deploymentId: string,
  layers: readonly ImageLayer[],
): Promise<void> {
  const text = JSON.stringify(layers);
  await updateDeploymentIfInState(db, deploymentId, ['preparing'], { image_layers: text });
}

/**
 * Records the transports that an instance of a deployment reported. Records nothing if the deployment has them already, or if the
 * list is empty, because then the first successful session shows a transport.
 */
export async function recordTransports(
  db: Database,
  deployment: Pick<DeploymentToReconcile, 'id' | 'transports'>,
  transports: readonly string[],
): Promise<void> {
  const text = JSON.stringify(transports);
  if (transports.length > 0 && text !== JSON.stringify(deployment.transports)) {
    await updateDeployment(db, deployment.id, { transports: text });
  }
}

/** Records the transport of a successful session, unless the transports of its deployment are known. */
export async function learnTransport(
  db: Database,
  session: {
    readonly deployment_id: string;
    readonly transport: SessionTransport;
    readonly completion_status: string | null;
  },
): Promise<void> {
  const isSuccess = ['HTTP_COMPLETED', 'WS_CONNECTION_CLOSED'].includes(session.completion_status ?? '');
  if (!isSuccess || session.transport === 'none') return;
  await updateUnknownTransports(db, session.deployment_id, JSON.stringify([session.transport]));
}

/** Activates a deployment, which replaces the serving one. Returns false if the deployment is no longer desired. */
export function activateDeployment(
  context: { db: Database; now: () => Date },
  deployment: { readonly id: string; readonly agentId: string },
): Promise<boolean> {
  return context.db.transaction().execute(async (db) => {
    await lockAgent(db, deployment.agentId);
    const now = context.now();
    const isActivated = await activateValidatedDeployment(db, deployment.agentId, deployment.id, now);
    if (isActivated) await recordOutcome(db, deployment, { event: 'deployment.ready', at: now, data: {} });
    return isActivated;
  });
}

export async function markProjectRemoved(
  context: { db: Database; now: () => Date },
  deploymentId: string,
): Promise<void> {
  await updateDeployment(context.db, deploymentId, { prepared: null, updated_at: context.now() });
}

/** `code` is a Pipecat Cloud error code such as `PCC_BOT_EXITED`. `exit` is null if no instance ended. */
export type DeploymentFault = {
  readonly code: DeploymentProblem;
  readonly message: string;
  readonly exit: StoredInstanceExit | null;
};

/** Marks a deployment as failed. Returns false, and changes nothing, if the deployment is serving or superseded. */
export function failDeployment(
  context: { db: Database; now: () => Date },
  deployment: { readonly id: string; readonly agentId: string },
  problem: DeploymentFault,
): Promise<boolean> {
  const now = context.now();
  const { exit } = problem;
  return context.db.transaction().execute(async (db) => {
    const failed = await updateDeploymentIfInState(db, deployment.id, ['preparing', 'validating'], {
      state: 'failed',
      state_at: now,
      updated_at: now,
      error: problem.message.slice(0, messageLength),
      error_code: problem.code,
      error_at: now,
      ...(exit === null ? {} : { last_exit: JSON.stringify(exit), restarts: 1 }),
    });
    if (failed) {
      await updateAgent(db, deployment.agentId, { updated_at: now });
      const data = { error_code: problem.code, error: problem.message.slice(0, messageLength) };
      await recordOutcome(db, deployment, { event: 'deployment.failed', at: now, data });
    }
    return failed;
  });
}

/** Records an event of a deployment for webhooks. A deployment can become ready again after a backup was restored. */
function recordOutcome(
  db: Database,
  { id, agentId }: { readonly id: string; readonly agentId: string },
  outcome: Pick<AgentEvent, 'event' | 'at' | 'data'>,
): Promise<void> {
  const occurrence = outcome.at.toISOString();
  const data = { deployment_id: id, ...outcome.data };
  return recordAgentEvent(db, { ...outcome, agentId, subject: id, occurrence, data });
}

/** Records why instances of a deployment fail to start. `problem` is null once they start again. */
export async function recordStartProblem(
  context: { db: Database; now: () => Date },
  deploymentId: string,
  problem: DeploymentFault | null,
): Promise<void> {
  const now = context.now();
  if (problem === null) {
    await clearDeploymentProblem(context.db, deploymentId, now);
  } else {
    const message = problem.message.slice(0, messageLength);
    await recordDeploymentProblem(context.db, deploymentId, { ...problem, message }, now);
  }
}

export function removeLastOutput(db: Database, sessionId: string): Promise<void> {
  return removeLastOutputOfSession(db, sessionId);
}

const messageLength = 2_000;
