import { type PreparedProject, ProjectPreparationError, type Runtime } from '@bothost/runtime';
import {
  type DeploymentFault,
  type DeploymentToReconcile,
  failDeployment,
  recordPreparedProject,
  recordStartProblem,
} from '../agents/deployment-state.ts';
import { describeImageProblem } from '../agents/image-problem.ts';
import { type AcceptingRegion, findSourceProblem } from '../agents/source-problem.ts';
import { PullSecretError } from '../secrets/pull-secret.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Backoff } from './backoff.ts';
import type { DeploymentOutcomeWaiters } from './outcomes.ts';

/** The preparation of a deployment continues during a shutdown. If it does not finish, the next server process repeats it. */
const never = new AbortController().signal;

type Context = Pick<StoreContext, 'db' | 'now' | 'logger' | 'retryWrite'> & {
  readonly host: AcceptingRegion;
  readonly runtime: Pick<Runtime, 'prepare'>;
  readonly pullImage: (row: DeploymentToReconcile) => Promise<PreparedProject>;
  /** Aborts when the server closes, which ends pulls. The next server process starts them again. */
  readonly closing: AbortSignal;
  readonly backoff: Backoff;
  /** Outcomes by deployment id: null if the deployment was activated, otherwise the error. */
  readonly outcomes: DeploymentOutcomeWaiters<string | null>;
};

/** Maximum number of attempts to pull an image, if the cause of the failures is unknown. */
const pullAttempts = 5;

/**
 * Prepares the project of a deployment, so that its instances can start. Makes at most one attempt at a time per deployment.
 *
 * If the deployment was created from a build, the project is the result of the build. After a restore from a backup, that build
 * must therefore run again first.
 */
export type DeploymentPreparer = {
  readonly prepare: (deployment: DeploymentToReconcile) => Promise<void>;
  readonly isBusy: (deploymentId: string) => boolean;
};

export function createDeploymentPreparer(context: Context): DeploymentPreparer {
  const busy = new Set<string>();

  async function prepare(row: DeploymentToReconcile): Promise<void> {
    if (busy.has(row.id)) return;
    busy.add(row.id);
    const deployment = { id: row.id, agentId: row.agent_id };
    try {
      const prepared = await projectOf(row);
      await context.retryWrite(() => recordPreparedProject(context, row.id, prepared));
    } catch (error) {
      if (context.closing.aborted) return;
      const problem = describeFailure(row, error);
      // Do not retry a failure that the owner must fix. Retry a failure that needs time or the operator, such as a full disk.
      const isImage = row.source.kind === 'image';
      const isOver = error instanceof ProjectPreparationError || (isImage && row.restarts + 1 >= pullAttempts);
      if (isOver) await context.retryWrite(() => failDeployment(context, deployment, problem));
      else context.backoff.failed(row.id);
      if (isImage && !isOver) await context.retryWrite(() => recordStartProblem(context, row.id, problem));
      context.logger.warn({ deploymentId: row.id, agent: row.agent_name, err: error }, 'deployment preparation failed');
      context.outcomes.settle(row.id, problem.message);
    } finally {
      busy.delete(row.id);
    }
  }

  function projectOf(row: DeploymentToReconcile): Promise<PreparedProject> {
    const { source } = row;
    const problem = findSourceProblem(context.host, row.agent_name, source);
    if (problem !== null) return Promise.reject(new SourceNotAcceptedError(problem.message));
    if (source.kind === 'image') return context.pullImage(row);
    if (source.kind === 'build') return Promise.resolve(preparedByBuild(row));
    const output = (line: string) => context.logger.info({ deploymentId: row.id, agent: row.agent_name }, line);
    return context.runtime.prepare({ id: row.id, source }, output, never);
  }

  return { prepare, isBusy: (id) => busy.has(id) };
}

/** The region does not run deployments of this kind any more. */
class SourceNotAcceptedError extends ProjectPreparationError {
  override readonly name = 'SourceNotAcceptedError';
}

function describeFailure(row: DeploymentToReconcile, error: unknown): DeploymentFault {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof SourceNotAcceptedError) return { code: 'PCC_SOURCE_NOT_ACCEPTED', message, exit: null };
  if (row.source.kind !== 'image') return { code: 'PCC_PREPARE_FAILED', message, exit: null };
  const code = error instanceof ProjectPreparationError ? error.imageCode : undefined;
  if (code !== undefined && error instanceof Error && error.cause instanceof PullSecretError)
    return { code, message, exit: null };
  const image = { agentName: row.agent_name, reference: row.source.reference, pullSecret: row.image_pull_secret };
  return { ...describeImageProblem(code ?? 'PCC_IMAGE_PULL_UNKNOWN_ERROR', image, message), exit: null };
}

function preparedByBuild({ build_prepared: prepared, build_error: error }: DeploymentToReconcile): PreparedProject {
  if (prepared !== null) return prepared;
  throw new ProjectPreparationError(
    `The build could not be repeated after a restore from a backup: ${error ?? 'its archive was removed'}`,
  );
}
