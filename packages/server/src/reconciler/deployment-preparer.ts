import type { Logger } from 'pino';
import { activateDeployment, failDeployment, type OpenDeployment } from '../agents/deployment.ts';
import { PrepareError, type Runtime } from '../runtime/runtime.ts';
import type { Database } from '../store/tables.ts';
import type { Backoff } from './backoff.ts';
import { createSettled } from './settled.ts';

/** What a killed server had begun, the next one begins anew. */
const NEVER = new AbortController().signal;

type Context = {
  readonly db: Database;
  readonly now: () => Date;
  readonly logger: Logger;
  readonly runtime: Pick<Runtime, 'prepare'>;
  readonly backoff: Backoff;
  readonly persist: <T>(write: () => Promise<T>) => Promise<T>;
};

/** Makes deployments startable, one attempt at a time each. */
export type DeploymentPreparer = {
  readonly prepare: (deployment: OpenDeployment) => Promise<void>;
  readonly isBusy: (deploymentId: string) => boolean;
  /** Resolves after the first attempt at a deployment: null when it serves, else what is in the way. */
  readonly settled: (deploymentId: string) => Promise<string | null>;
};

export function createDeploymentPreparer(context: Context): DeploymentPreparer {
  const busy = new Set<string>();
  const attempts = createSettled<string | null>();

  async function prepare(row: OpenDeployment): Promise<void> {
    if (busy.has(row.id)) return;
    busy.add(row.id);
    const deployment = { id: row.id, agentId: row.agent_id };
    let problem: string | null = null;
    try {
      const output = (line: string) => context.logger.info({ deploymentId: row.id, agent: row.agent_name }, line);
      const prepared = await context.runtime.prepare({ id: row.id, source: row.source }, output, NEVER);
      await context.persist(() => activateDeployment(context, deployment, prepared));
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
      // What the owner can mend ends the attempt; what only time or the operator can (a full disk) is tried again.
      if (!(error instanceof PrepareError)) context.backoff.failed(row.id);
      else await context.persist(() => failDeployment(context, deployment, error.message));
      context.logger.warn(
        { deploymentId: row.id, agent: row.agent_name, err: error },
        'a deployment could not be prepared',
      );
    } finally {
      busy.delete(row.id);
      attempts.settle(row.id, problem);
    }
  }

  return { prepare, isBusy: (id) => busy.has(id), settled: attempts.settled };
}
