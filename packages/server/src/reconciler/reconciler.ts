import { setMaxListeners } from 'node:events';
import { createFailureLog } from '../concurrency/failure-log.ts';
import { adoptSession } from './adopt-session.ts';
import { createBackoff } from './backoff.ts';
import type { ReconcilerContext } from './context.ts';
import { createDeploymentPreparer } from './deployment-preparer.ts';
import { dispatchSession, type ReadySession } from './dispatch.ts';
import { createDispatchContext } from './dispatch-context.ts';
import { createRelayedSessionEnder, type RelayedSessionEnder } from './end-relayed-session.ts';
import { createActionExecutor } from './execute.ts';
import { pullImage } from './image-pull.ts';
import { type InstanceWatcher, watchInstances } from './instance-events.ts';
import { createInstanceRunner } from './instance-runner.ts';
import { createInstanceStartQueue } from './instance-start-queue.ts';
import type { InMemoryObservedState } from './observe.ts';
import { createDeploymentOutcomeWaiters } from './outcomes.ts';
import { createReconcileLoop } from './reconcile-loop.ts';
import { runReconcilePass } from './reconcile-pass.ts';
import { createBotFailureRecorder } from './record-bot-failure.ts';
import { createSessionEndRecorder, type SessionEndRecorder } from './record-ends.ts';
import { createInstanceReplacer, type InstanceReplacer, waitBeforeReplacement } from './replace-instance.ts';
import { launchDeadline, startDeadline } from './start-deadline.ts';
import { giveBackOnFailure, publishReadyAddress } from './take-session.ts';
import { createTakeover } from './takeover.ts';
import { createDeploymentValidator } from './validation.ts';
import type { WatchedSession } from './watch-start.ts';

export type Reconciler = {
  /** Call this once the service listens. Resolves when all lost sessions and instances are recorded as ended. */
  readonly start: () => Promise<void>;
  /** Requests a reconcile pass soon. All calls during a pass cause only one further pass. */
  readonly requestReconcile: () => void;
  /** Resolves after the next pass, or when the signal aborts. Each end of a session or an instance causes a pass. */
  readonly nextPass: (signal: AbortSignal) => Promise<void>;
  /** Sends a newly started session to its warm instance. This server must already own the session. */
  readonly dispatch: (session: ReadySession) => void;
  readonly endSession: SessionEndRecorder['endSession'];
  /** Records the moments of a session's start that its bot reports. The session must be live. */
  readonly watchStart: (session: WatchedSession) => void;
  readonly endRelayedSession: RelayedSessionEnder;
  readonly replaceInstance: InstanceReplacer;
  /** Resolves with the next outcome of a deployment: null once the deployment is activated, otherwise the error. */
  readonly deployed: (deploymentId: string) => Promise<string | null>;
  /** Stops idle instances and keeps no warm pool. Instances still start for sessions that are waiting for one. */
  readonly drain: () => void;
  /** Stops reconciling and releases all resources. Bots continue to run. */
  readonly close: () => Promise<void>;
};

/**
 * Creates the reconciler. A pass runs on request, on runtime events, and each second. Each pass reads the observed
 * state from the database and the runtime, so a new server process continues where the previous process stopped.
 */
export function createReconciler(context: ReconcilerContext): Reconciler {
  const { ownership, sessionAddresses, logger } = context;
  const closing = new AbortController();
  // Disables the signal's listener limit, because every owned session adds a listener.
  setMaxListeners(0, closing.signal);
  const backoff = createBackoff(context.now);
  const takeover = createTakeover(context);
  const outcomes = createDeploymentOutcomeWaiters<string | null>();
  const preparer = createDeploymentPreparer({
    ...context,
    backoff,
    outcomes,
    closing: closing.signal,
    pullImage: (row) => pullImage({ ...context, closing: closing.signal }, row),
  });
  const validation = createDeploymentValidator({ ...context, backoff, outcomes });
  const failureLog = createFailureLog(logger, 'reconcile pass');
  const loop = createReconcileLoop(runPass, closing.signal, failureLog);
  const requestReconcile = loop.request;
  const { endSession, instanceRemoved } = createSessionEndRecorder({ ...context, requestReconcile });
  let watch: InstanceWatcher | null = null;
  const isEnding = (instanceId: string) => watch?.isEnding(instanceId) ?? false;
  const recordBotFailure = createBotFailureRecorder(context);
  const replaceInstance = createInstanceReplacer({ ...context, requestReconcile });
  const dispatchContext = createDispatchContext({
    ...context,
    closing: closing.signal,
    endSession,
    recordBotFailure,
    replaceInstance,
    isInstanceReachable: (instanceId) => context.runtime.isAddressCurrent(instanceId) && !isEnding(instanceId),
  });
  const runner = createInstanceRunner({
    ...context,
    validation,
    startInTurn: createInstanceStartQueue(context.startsAtOnce),
    startDeadline,
    launchDeadline,
    replaceInstance,
    waitBeforeReplacement,
    closing: closing.signal,
    onReady: (row) => {
      // The bot may have ended since.
      if (context.runtime.isAddressCurrent(row.id)) publishReadyAddress(sessionAddresses, row.session_id, row);
      requestReconcile();
    },
    onRemoved: instanceRemoved,
  });
  const execute = createActionExecutor({
    ...context,
    preparer,
    validation,
    runner,
    adoptSession: (row, instance) => adoptSession(dispatchContext, row, instance),
    endSession,
    instanceRemoved,
    unobservedEndAt: takeover.unobservedEndAt,
    isExitUnrecorded: (instanceId) => watch?.isUnrecorded(instanceId) ?? false,
    requestReconcile,
  });
  let draining = false;

  const inMemoryObservedState = (): InMemoryObservedState => ({
    isOwned: ownership.has,
    isBusyInstance: (id) => runner.isBusy(id) || isEnding(id),
    isBusyDeployment: preparer.isBusy,
    restAfterFailureUntil: backoff.until,
    serverId: context.serverId,
    draining,
  });

  async function runPass(): Promise<void> {
    if (!context.holdsRegion()) return;
    const pass = { ...context, outcomes, inMemoryObservedState, execute, closing: closing.signal };
    await takeover.passed(await runReconcilePass(pass));
  }

  return {
    start: () => {
      watch = watchInstances({
        ...context,
        signal: closing.signal,
        endSession,
        replaceInstance,
        requestReconcile,
        unobservedEndAt: takeover.unobservedEndAt,
        onIdleExit: validation.idleExit,
      });
      loop.start();
      return takeover.done;
    },
    requestReconcile,
    nextPass: loop.nextPass,
    deployed: outcomes.next,
    endSession,
    watchStart: dispatchContext.watchStart,
    replaceInstance,
    endRelayedSession: createRelayedSessionEnder({ ...context, endSession, recordBotFailure }),
    dispatch: (session) => {
      const work = () => dispatchSession(dispatchContext, session);
      giveBackOnFailure(ownership, session.id, work).catch((error: unknown) => {
        if (closing.signal.aborted) return;
        logger.error({ err: error, sessionId: session.id }, 'session could not be dispatched');
        // The next reconcile pass takes the session, and dispatches it unless the bot already has it.
        requestReconcile();
      });
    },
    drain: () => {
      draining = true;
      requestReconcile();
    },
    close: async () => {
      closing.abort();
      takeover.abandon();
      await watch?.done;
      await loop.close();
    },
  };
}
