import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ConversationLevel,
  type DeploySource,
  instanceStartTimeoutSeconds,
  maxSessionStartWaitSeconds,
} from '@bothost/contract';
import type { InstanceLifecycle, ProjectPreparer, Runtime, SessionPriority, StartMethods } from '@bothost/runtime';
import type { Logger } from 'pino';
import { createFailureLog } from '../concurrency/failure-log.ts';
import type { ConversationFollowers } from '../conversations/followers.ts';
import type { Sampler } from '../metrics/sampler.ts';
import type { Telemetry } from '../metrics/telemetry.ts';
import { createBotRequest, recordMeetings, type SessionRoomContext } from '../rooms/session-room.ts';
import type { ImageRegistryConnectionOptions } from '../secrets/registry/check-credentials.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { SessionIceServers } from '../sessions/ice-servers.ts';
import type { SessionAddressRegistry } from '../sessions/session-address-registry.ts';
import type { RetryWrite } from '../store/retry-write.ts';
import type { Database } from '../store/tables.ts';
import { type AdoptionContext, adoptSession } from './adopt-session.ts';
import { createBackoff } from './backoff.ts';
import { createDeploymentPreparer } from './deployment-preparer.ts';
import { dispatchSession, type ReadySession } from './dispatch.ts';
import { drainBot } from './drain-bot.ts';
import { createRelayedSessionEnder, type RelayedSessionEnder } from './end-relayed-session.ts';
import { createActionExecutor } from './execute.ts';
import { pullImage } from './image-pull.ts';
import { type InstanceWatcher, watchInstances } from './instance-events.ts';
import { createInstanceRunner } from './instance-runner.ts';
import { createInstanceStartQueue } from './instance-start-queue.ts';
import type { InMemoryObservedState } from './observe.ts';
import { createDeploymentOutcomeWaiters } from './outcomes.ts';
import type { ReconcileAction } from './plan.ts';
import { createReconcileLoop } from './reconcile-loop.ts';
import { type ActionInProgress, runReconcilePass } from './reconcile-pass.ts';
import { createBotFailureRecorder } from './record-bot-failure.ts';
import { createSessionEndRecorder, type SessionEndRecorder } from './record-ends.ts';
import { createInstanceReplacer, type InstanceReplacer } from './replace-instance.ts';
import type { SessionOwnershipRegistry } from './session-ownership.ts';
import { giveBackOnFailure, publishReadyAddress } from './take-session.ts';
import { createDeploymentValidator } from './validation.ts';
import { type WatchedSession, watchStart } from './watch-start.ts';

export type ReconcilerContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly logger: Logger;
  readonly runtime: ProjectPreparer & InstanceLifecycle & SessionPriority & StartMethods & Pick<Runtime, 'outputs'>;
  readonly host: { readonly id: string; readonly region: string; readonly accepts: DeploySource };
  readonly serverId: string;
  /** Key from which the control tokens of instances are derived. */
  readonly key: Buffer;
  /** Keys that decrypt the secrets with which an instance is started. */
  readonly keyring: Keyring;
  /** The most that the operator allows to keep of conversations. */
  readonly maxConversationLevel: ConversationLevel;
  readonly registries: Pick<ImageRegistryConnectionOptions, 'policy' | 'resolve'>;
  /** Returns the URL at which bots reach the service, or null if they cannot. Call this only after the service listens. */
  readonly internalUrl: () => string | null;
  readonly iceServersOf: SessionIceServers;
  readonly roomProviders: SessionRoomContext['roomProviders'];
  readonly ownership: SessionOwnershipRegistry;
  readonly sessionAddresses: SessionAddressRegistry;
  readonly sampler: Sampler;
  readonly conversationFollowers: Pick<ConversationFollowers, 'begin'>;
  readonly telemetry: Telemetry;
  /**
   * Time of the last heartbeat of the previous server process. Recorded as the end time of WebSockets that the previous process
   * relayed. Null if the region is new.
   */
  readonly lastHeartbeat: Date | null;
  readonly retryWrite: RetryWrite;
  /** Maximum number of instances per organization that start at the same time. */
  readonly startsAtOnce: number;
  /** Whether this server holds the lock of its region. Reconcile passes do nothing without the lock. */
  readonly holdsRegion: () => boolean;
};

export type Reconciler = {
  /**
   * Call this as soon as the service listens. Resolves when all sessions and instances that were lost with the previous server
   * process are recorded as ended.
   */
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
  const given = {
    closing: closing.signal,
    endSession,
    recordBotFailure,
    replaceInstance,
    isInstanceReachable: (instanceId: string) => context.runtime.isAddressCurrent(instanceId) && !isEnding(instanceId),
  };
  const dispatchContext = createDispatchContext(context, given);
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

/** Maximum time in seconds until the platform runs a bot whose deployment is being validated. */
const validationLaunchSeconds = 900;

/** Milliseconds before a session gets its second, third and fourth instance, because the platform may need time. */
const replacementDelaysMs = [1_000, 10_000, 50_000];

async function waitBeforeReplacement(earlierReplacements: number, signal: AbortSignal): Promise<void> {
  const options = { signal, ref: false };
  await delay(replacementDelaysMs[earlierReplacements], undefined, options).catch(() => undefined);
}

function launchDeadline(isValidating: boolean): AbortSignal {
  return AbortSignal.timeout((isValidating ? validationLaunchSeconds : maxSessionStartWaitSeconds) * 1000);
}

function startDeadline(): AbortSignal {
  return AbortSignal.timeout(instanceStartTimeoutSeconds * 1000);
}

function createDispatchContext(
  context: ReconcilerContext,
  given: Pick<
    AdoptionContext,
    'closing' | 'endSession' | 'recordBotFailure' | 'replaceInstance' | 'isInstanceReachable'
  >,
): AdoptionContext {
  const { sessionAddresses, logger, runtime, sampler, conversationFollowers, telemetry } = context;
  const isReachable = (sessionId: string) => sessionAddresses.known(sessionId) !== undefined;
  const watch = (session: WatchedSession) => {
    watchStart({ ...context, ...given, isReachable }, session).catch((error: unknown) => {
      if (!given.closing.aborted)
        logger.error({ err: error, sessionId: session.id }, 'start of session could not be recorded');
    });
  };
  return {
    ...context,
    ...given,
    createRoomRequest: (session) =>
      context
        .retryWrite(() => createBotRequest(context, session))
        .catch((error: unknown) => {
          if (given.closing.aborted) throw error;
          logger.error({ err: error, sessionId: session.id }, 'room of session could not be read');
          return null;
        }),
    recordMeetings: (sessionId, meetings) => context.retryWrite(() => recordMeetings(context.db, sessionId, meetings)),
    acceptDeadline: startDeadline,
    isReachable,
    watchStart: watch,
    drainBot: (session, limit) => drainBot(context, session, limit),
    onDispatch: ({ id, instanceId }) => {
      runtime.sessionOpening(instanceId);
      sampler.begin(id, instanceId);
      conversationFollowers.begin(id, instanceId);
    },
    onOpen: sessionAddresses.opened,
    onLive: (session, startedAt) => {
      telemetry.botStarted({ ...session, startedAt });
      logger.info({ sessionId: session.id }, 'session started');
    },
  };
}

/** Tracks this server's first pass, which ends the sessions and instances that were lost with the previous server process. */
function createTakeover({ now, lastHeartbeat }: Pick<ReconcilerContext, 'now' | 'lastHeartbeat'>) {
  let isOver = false;
  let resolveDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    resolveDone = resolve;
  });
  return {
    done,
    abandon: resolveDone,
    passed: async (actions: readonly ActionInProgress[]): Promise<void> => {
      if (isOver) return;
      await Promise.all(actions.filter(({ action }) => endsWithPreviousServer(action)).map((action) => action.done));
      isOver = true;
      resolveDone();
    },
    /**
     * Returns the end time to record for a session or instance whose end no server observed. Until this server's first
     * reconcile pass is over, the time is the last heartbeat of the previous server process, if there is one. Otherwise, it is
     * the current time.
     */
    unobservedEndAt: () => (isOver || lastHeartbeat === null ? now() : lastHeartbeat),
  };
}

/**
 * Whether the action ends a session or instance that was lost with the previous server process. Complete such actions in the
 * first reconcile pass. Later passes would record the current time as the end time, which would be too late.
 */
function endsWithPreviousServer(action: ReconcileAction): boolean {
  return action.do === 'end-session' || action.do === 'instance-lost';
}
