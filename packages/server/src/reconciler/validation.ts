import { instanceStartTimeoutSeconds } from '@bothost/contract';
import { StartError } from '@bothost/runtime';
import {
  activateDeployment,
  type DeploymentFault,
  type DeploymentToReconcile,
  failDeployment,
  recordStartProblem,
} from '../agents/deployment-state.ts';
import { describeImageProblem } from '../agents/image-problem.ts';
import { type AcceptingRegion, findSourceProblem } from '../agents/source-problem.ts';
import { SecretsUnavailableError } from '../secrets/pin.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Backoff } from './backoff.ts';
import type { DeploymentOutcomeWaiters } from './outcomes.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'logger' | 'retryWrite'> & {
  readonly host: AcceptingRegion;
  readonly backoff: Backoff;
  /** Outcomes by deployment id: null if the deployment was activated, otherwise the error. */
  readonly outcomes: DeploymentOutcomeWaiters<string | null>;
};

/** Validates deployments: a deployment serves only after one of its instances was ready. */
export type DeploymentValidator = {
  readonly passed: (deployment: DeploymentToReconcile) => Promise<void>;
  /** Records that an instance of the deployment did not become ready. `sessionId`: the session that waits for it. Never rejects. */
  readonly startFailed: (
    deployment: DeploymentToReconcile,
    error: unknown,
    instance: { readonly isLate: boolean; readonly sessionId: string | null },
  ) => Promise<void>;
  /** Records that an instance of the deployment became ready. */
  readonly started: (deployment: DeploymentToReconcile) => Promise<void>;
  /** Records that an instance of the deployment exited by itself while it waited for a session. */
  readonly idleExit: (deploymentId: string, exit: NonNullable<DeploymentFault['exit']>) => Promise<void>;
};

/** Attempts to start an instance of a new deployment. Then the deployment fails, even if each failure is temporary. */
const attempts = 5;

export function createDeploymentValidator(context: Context): DeploymentValidator {
  const { backoff, outcomes, retryWrite, logger } = context;

  async function passed(row: DeploymentToReconcile): Promise<void> {
    const serves = await retryWrite(() => activateDeployment(context, { id: row.id, agentId: row.agent_id }));
    // Another pass may have activated the deployment already, or a newer deployment is desired.
    if (!serves) return;
    logger.info({ deploymentId: row.id, agent: row.agent_name }, 'deployment activated');
    outcomes.settle(row.id, null);
  }

  const startFailed: DeploymentValidator['startFailed'] = async (row, error, { isLate, sessionId }) => {
    backoff.failed(row.id);
    const { lasting, exit, ...fault } =
      describeSourceFailure(context.host, row, error) ?? describeStartFailure(error, isLate);
    const problem = { ...fault, exit: exit === null ? null : { ...exit, sessionId } };
    const deployment = { id: row.id, agentId: row.agent_id };
    const isOver = row.state === 'validating' && (lasting || row.restarts + 1 >= attempts);
    const write = async () => {
      const ended = isOver && (await failDeployment(context, deployment, problem));
      // The deployment may be serving already, because another instance became ready first.
      if (!ended) await recordStartProblem(context, row.id, problem);
      return ended;
    };
    const ended = await retryWrite(write).catch((failure: unknown) => {
      // Log this error instead of throwing it, because the caller must still record that the instance ended.
      logger.error({ deploymentId: row.id, err: failure }, 'failed start could not be recorded');
      return false;
    });
    if (!ended) return;
    logger.warn(
      { deploymentId: row.id, agent: row.agent_name },
      'deployment failed because none of its instances became ready',
    );
    const tail = problem.exit?.tail ?? '';
    outcomes.settle(row.id, tail === '' ? problem.message : `${problem.message} Last output of the bot: ${tail}`);
  };

  async function started(row: DeploymentToReconcile): Promise<void> {
    backoff.succeeded(row.id);
    if (row.error !== null) await retryWrite(() => recordStartProblem(context, row.id, null));
  }

  async function idleExit(deploymentId: string, exit: NonNullable<DeploymentFault['exit']>): Promise<void> {
    backoff.failed(deploymentId);
    const code = exit.outOfMemory ? 'PCC_OUT_OF_MEMORY' : 'PCC_BOT_EXITED';
    const message = exit.diskLimit ?? 'An instance ended while it waited for a session.';
    await retryWrite(() => recordStartProblem(context, deploymentId, { code, message, exit }));
  }

  return { passed, startFailed, started, idleExit };
}

/** Explains a failure of the deployment's source: the region does not run it any more, or its image cannot be used. */
function describeSourceFailure(
  host: AcceptingRegion,
  { agent_name: agentName, source, image_pull_secret: pullSecret }: DeploymentToReconcile,
  error: unknown,
): (DeploymentFault & { readonly lasting: boolean }) | null {
  const problem = findSourceProblem(host, agentName, source);
  if (problem !== null) return { ...problem, lasting: true };
  if (source.kind !== 'image' || !(error instanceof StartError) || error.imageCode === undefined) return null;
  const image = { agentName, reference: source.reference, pullSecret };
  return {
    ...describeImageProblem(error.imageCode, image, error.message),
    exit: error.exit,
    lasting: error.kind === 'image',
  };
}

/**
 * Explains to the agent's owner why an instance did not become ready. `lasting` is true if the same start would fail
 * again, because of the bot or the deployment's secrets. Other problems are temporary or need the operator.
 */
export function describeStartFailure(
  error: unknown,
  timedOut: boolean,
): DeploymentFault & { readonly lasting: boolean } {
  const message = error instanceof Error ? error.message : String(error);
  const exit = error instanceof StartError ? error.exit : null;
  if (exit !== null) {
    return { code: exit.outOfMemory ? 'PCC_OUT_OF_MEMORY' : 'PCC_BOT_EXITED', message, exit, lasting: true };
  }
  if (error instanceof StartError && error.cause instanceof SecretsUnavailableError) {
    const { message: reason, lasting } = error.cause;
    return { code: 'PCC_SECRETS_UNAVAILABLE', message: reason, exit, lasting };
  }
  if (timedOut) {
    const tail = error instanceof StartError ? error.tail : '';
    const stopped = { code: null, signal: null, outOfMemory: false, tail };
    const late = `${message} It had ${instanceStartTimeoutSeconds} seconds.`;
    return { code: 'PCC_BOT_START_TIMEOUT', message: late, exit: stopped, lasting: true };
  }
  return { code: 'PCC_UNKNOWN_ERROR', message, exit, lasting: false };
}
