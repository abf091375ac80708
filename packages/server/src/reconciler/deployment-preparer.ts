import { type PreparedProject, ProjectPreparationError, type Runtime } from '@bothost/runtime';
import type { Logger } from 'pino';
import { type DeploymentToReconcile, failDeployment, recordPreparedProject } from '../agents/deployment-state.ts';
import type { RetryWrite } from '../store/retry-write.ts';
import type { Database } from '../store/tables.ts';
import type { Backoff } from './backoff.ts';
import type { DeploymentOutcomeWaiters } from './outcomes.ts';

/**
 * A signal that never aborts. The preparation of a deployment continues during a shutdown. If the preparation does not finish,
 * the next server process starts it again.
 */
const never = new AbortController().signal;

type Context = {
  readonly db: Database;
  readonly now: () => Date;
  readonly logger: Logger;
  readonly runtime: Pick<Runtime, 'prepare'>;
  readonly backoff: Backoff;
  /** Outcomes by deployment id: null if the deployment was activated, otherwise the error. */
  readonly outcomes: DeploymentOutcomeWaiters<string | null>;
  readonly retryWrite: RetryWrite;
};

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
      const message = error instanceof Error ? error.message : String(error);
      const problem = { code: 'PCC_PREPARE_FAILED', message, exit: null } as const;
      // Do not retry a failure that the owner must fix. Retry a failure that needs time or the operator, such as a full disk.
      if (!(error instanceof ProjectPreparationError)) context.backoff.failed(row.id);
      else await context.retryWrite(() => failDeployment(context, deployment, problem));
      context.logger.warn({ deploymentId: row.id, agent: row.agent_name, err: error }, 'deployment preparation failed');
      context.outcomes.settle(row.id, message);
    } finally {
      busy.delete(row.id);
    }
  }

  function projectOf(row: DeploymentToReconcile): Promise<PreparedProject> {
    const { source } = row;
    if (source.kind === 'build') return Promise.resolve(preparedByBuild(row));
    const output = (line: string) => context.logger.info({ deploymentId: row.id, agent: row.agent_name }, line);
    return context.runtime.prepare({ id: row.id, source }, output, never);
  }

  return { prepare, isBusy: (id) => busy.has(id) };
}

function preparedByBuild({ build_prepared: prepared, build_error: error }: DeploymentToReconcile): PreparedProject {
  if (prepared !== null) return prepared;
  throw new ProjectPreparationError(
    `The build could not be repeated after a restore from a backup: ${error ?? 'its archive was removed'}`,
  );
}
