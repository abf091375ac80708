import type { Runtime } from '@bothost/runtime';
import type { Logger } from 'pino';
import type { SessionDirectory } from '../sessions/session-directory.ts';
import type { Database } from '../store/tables.ts';
import { type LocalState, observe, type Rows } from './observe.ts';
import type { Outcomes } from './outcomes.ts';
import { type Action, plan, startableDeployments } from './plan.ts';

type Context = {
  readonly db: Database;
  readonly now: () => Date;
  readonly logger: Logger;
  readonly runtime: Pick<Runtime, 'list' | 'retain'>;
  readonly host: { readonly id: string; readonly region: string };
  readonly directory: Pick<SessionDirectory, 'ready'>;
  readonly outcomes: Outcomes<string | null>;
  readonly localState: () => LocalState;
  readonly execute: (action: Action, rows: Rows) => Promise<void>;
  readonly closing: AbortSignal;
};

/**
 * One reconcile pass: observes the state, plans, and begins the planned actions. Resolves with the actions in progress, which
 * a pass does not wait for: a slow bot must not delay the others.
 */
export async function reconcilePass(context: Context): Promise<readonly ActionInProgress[]> {
  const { observed, rows } = await observe(context, context.localState());
  publishReadyAddresses(context, rows);
  settleSuperseded(context, rows);
  void context.runtime.retain(startableDeployments(observed)).catch((error: unknown) => {
    context.logger.error({ err: error }, 'fork servers could not be stopped');
  });
  return plan(observed).map((action) => ({ action, done: begin(context, action, rows) }));
}

/** `done` never rejects: a failed action is logged, and planned again if it is still due. */
export type ActionInProgress = { readonly action: Action; readonly done: Promise<void> };

/** The directory learns of ready instances by events; a session that was added to it just after the event is caught here. */
function publishReadyAddresses({ directory }: Context, rows: Rows): void {
  for (const { id, instance_state: state, instance_host: host, instance_port: port } of rows.sessions.values()) {
    if (state === 'ready' && host !== null && port !== null) directory.ready(id, { host, port });
  }
}

/** Nothing else would ever settle the outcome of a deployment that is no longer desired. */
function settleSuperseded({ outcomes }: Context, rows: Rows): void {
  for (const id of outcomes.awaited()) {
    const row = rows.deployments.get(id);
    if (row?.desired_deployment_id !== id || row.deleted_at !== null)
      outcomes.settle(id, 'the deployment is no longer desired');
  }
}

async function begin({ logger, execute, closing }: Context, action: Action, rows: Rows): Promise<void> {
  logger.debug({ action }, 'reconcile action');
  await execute(action, rows).catch((error: unknown) => {
    if (!closing.aborted) logger.error({ err: error, action }, 'reconcile action failed');
  });
}
