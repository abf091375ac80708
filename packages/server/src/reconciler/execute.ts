import type { Runtime } from '@bothost/runtime';
import { markProjectRemoved } from '../agents/deployment-state.ts';
import { lockAgentForScaling } from '../agents/serving-deployment.ts';
import { findInstance, type OpenInstanceRow, provisionInstances, retireInstance } from '../instances/lifecycle.ts';
import { type OpenSessionRow, recordEndCause } from '../sessions/progress.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { DeploymentPreparer } from './deployment-preparer.ts';
import type { InstanceRunner } from './instance-runner.ts';
import type { ObservedRows } from './observe.ts';
import type { ReconcileAction } from './plan.ts';
import type { SessionEndRecorder } from './record-ends.ts';
import type { DeploymentValidator } from './validation.ts';

type Context = SessionEndRecorder &
  Pick<StoreContext, 'db' | 'now' | 'newId' | 'retryWrite'> & {
    readonly runtime: Pick<Runtime, 'discard' | 'inspect' | 'stop' | 'forget'>;
    readonly host: { readonly id: string };
    readonly preparer: Pick<DeploymentPreparer, 'prepare'>;
    readonly validation: Pick<DeploymentValidator, 'passed'>;
    readonly runner: InstanceRunner;
    readonly adoptSession: (row: OpenSessionRow, instance: OpenInstanceRow) => Promise<void>;
    /** Returns the end time to record for a session or instance whose end no server observed. */
    readonly unobservedEndAt: () => Date;
    /** Whether the exit of an instance was observed, but could not be recorded. */
    readonly isExitUnrecorded: (instanceId: string) => boolean;
    readonly requestReconcile: () => void;
  };

/** Creates a function that executes planned actions. `rows` are the database rows from which the plan was computed. */
export function createActionExecutor(context: Context): (action: ReconcileAction, rows: ObservedRows) => Promise<void> {
  const { db, runtime, retryWrite, endSession, instanceRemoved, unobservedEndAt, requestReconcile } = context;

  async function execute(action: ReconcileAction, rows: ObservedRows): Promise<void> {
    switch (action.do) {
      case 'prepare-deployment': {
        const row = rows.deployments.get(action.deploymentId);
        if (row !== undefined) await context.preparer.prepare(row);
        return requestReconcile();
      }
      case 'activate-deployment': {
        const row = rows.deployments.get(action.deploymentId);
        if (row !== undefined) await context.validation.passed(row);
        return requestReconcile();
      }
      case 'discard-deployment': {
        const prepared = rows.deployments.get(action.deploymentId)?.prepared;
        if (prepared) await runtime.discard(prepared);
        return retryWrite(() => markProjectRemoved(context, action.deploymentId));
      }
      case 'provision':
        return provision(action, rows);
      case 'start-instance':
        return startInstance(action.instanceId, rows);
      case 'retire-instance':
        if (await retireInstance(db, action.instanceId)) requestReconcile();
        return;
      case 'stop-instance': {
        const row = rows.instances.get(action.instanceId);
        const session = rows.sessions.get(row?.session_id ?? '');
        return row === undefined ? undefined : context.runner.stop(row, session?.transport ?? 'none');
      }
      case 'instance-lost': {
        const at = unobservedEndAt();
        if (!(await isLost(action.instanceId))) return;
        await runtime.stop(action.instanceId, 0);
        return instanceRemoved(action.instanceId, 'HTTP_ERROR', null, at);
      }
      case 'remove-orphan': {
        // Read the row again: the instance may have been created after the snapshot of the pass.
        const row = await retryWrite(() => findInstance(db, action.instanceId));
        if (row !== undefined && row.state !== 'ended') return;
        await runtime.stop(action.instanceId, 0);
        return runtime.forget(action.instanceId);
      }
      case 'adopt-session': {
        const row = rows.sessions.get(action.sessionId);
        const instance = rows.instances.get(row?.instance_id ?? '');
        return row === undefined || instance === undefined ? undefined : context.adoptSession(row, instance);
      }
      case 'decide-end':
        await recordEndCause(context, action.sessionId, action.status);
        return requestReconcile();
      case 'end-session':
        return endSession(
          action.sessionId,
          action.status,
          action.at === 'now' ? context.now() : unobservedEndAt(),
          action.only,
        );
    }
  }

  /** Whether an instance ended without an event. Asks again, because the list may be old; exits arrive as events. */
  async function isLost(instanceId: string): Promise<boolean> {
    const observed = await runtime.inspect(instanceId);
    return observed === null || (observed.state === 'exited' && context.isExitUnrecorded(instanceId));
  }

  async function provision(
    { deploymentId, idle, replaces }: Extract<ReconcileAction, { do: 'provision' }>,
    rows: ObservedRows,
  ): Promise<void> {
    const row = rows.deployments.get(deploymentId);
    if (row === undefined) return;
    const added = await db.transaction().execute(async (transaction) => {
      await lockAgentForScaling(transaction, row.agent_id);
      const pool = { deploymentId, agentId: row.agent_id, idle, maxAgents: row.max_agents + (replaces ? 1 : 0) };
      return provisionInstances({ ...context, db: transaction }, pool);
    });
    if (added > 0) requestReconcile();
  }

  async function startInstance(instanceId: string, rows: ObservedRows): Promise<void> {
    const row = rows.instances.get(instanceId);
    const deployment = row === undefined ? undefined : rows.deployments.get(row.deployment_id);
    if (row === undefined || deployment === undefined || context.runner.isBusy(instanceId)) return;
    return context.runner.start(row, deployment);
  }

  return execute;
}
