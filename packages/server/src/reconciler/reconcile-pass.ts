import type { Runtime } from '@bothost/runtime';
import type { SessionAddressRegistry } from '../sessions/session-address-registry.ts';
import type { StoreContext } from '../store/store-context.ts';
import { type InMemoryObservedState, type ObservedRows, readObservedState } from './observe.ts';
import type { DeploymentOutcomeWaiters } from './outcomes.ts';
import { findStartableDeployments, planReconcileActions, type ReconcileAction } from './plan.ts';
import { publishReadyAddress } from './take-session.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'logger'> & {
  readonly runtime: Pick<Runtime, 'list' | 'findReplaceable' | 'retain' | 'isAddressCurrent'>;
  readonly host: { readonly id: string; readonly region: string };
  readonly sessionAddresses: Pick<SessionAddressRegistry, 'ready'>;
  readonly outcomes: DeploymentOutcomeWaiters<string | null>;
  readonly inMemoryObservedState: () => InMemoryObservedState;
  readonly execute: (action: ReconcileAction, rows: ObservedRows) => Promise<void>;
  readonly closing: AbortSignal;
};

/** Observes, plans, and starts the actions. Does not wait for them, because a slow bot must not delay other bots. */
export async function runReconcilePass(context: Context): Promise<readonly ActionInProgress[]> {
  const { observed, rows } = await readObservedState(context, context.inMemoryObservedState());
  publishReadyAddresses(context, rows);
  settleSuperseded(context, rows);
  void context.runtime.retain(findStartableDeployments(observed));
  return planReconcileActions(observed).map((action) => ({ action, done: begin(context, action, rows) }));
}

/** An action in progress. `done` never rejects: a failed action is planned again if it is still due. */
export type ActionInProgress = { readonly action: ReconcileAction; readonly done: Promise<void> };

/** Publishes the addresses of instances that became ready before their session was added to the session address registry. */
function publishReadyAddresses({ sessionAddresses, runtime }: Context, rows: ObservedRows): void {
  for (const row of rows.sessions.values()) {
    const isReady = row.instance_state === 'ready' && runtime.isAddressCurrent(row.instance_id ?? '');
    if (isReady) publishReadyAddress(sessionAddresses, row.id, row);
  }
}

/** Ends waits for replaced deployments and deleted agents, because no event reports these changes. */
function settleSuperseded({ outcomes }: Context, rows: ObservedRows): void {
  for (const id of outcomes.awaited()) {
    const row = rows.deployments.get(id);
    if (row?.desired_deployment_id !== id || row.deleted_at !== null)
      outcomes.settle(id, 'the deployment is no longer desired');
  }
}

async function begin(
  { logger, execute, closing }: Context,
  action: ReconcileAction,
  rows: ObservedRows,
): Promise<void> {
  logger.debug({ action }, 'reconcile action started');
  await execute(action, rows).catch((error: unknown) => {
    if (!closing.aborted) logger.error({ err: error, action }, 'reconcile action failed');
  });
}
