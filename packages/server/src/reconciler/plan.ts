import {
  type DeploymentState,
  maxSessionStartWaitSeconds,
  type ServiceDefinedCompletionStatus,
  socketTokenLifetimeSeconds,
  surplusInstanceIdleSeconds,
} from '@bothost/contract';
import { groupBy } from '../sessions/group-by.ts';
import type { InstanceState, SessionState, SessionTransport } from '../store/tables.ts';

export type PlannedDeployment = {
  readonly id: string;
  readonly state: DeploymentState;
  /** Whether new sessions use this deployment. */
  readonly serving: boolean;
  /** Whether the deployment is being prepared, by this process or by a build that has not ended. */
  readonly busy: boolean;
  /** Whether another deployment has replaced this one or its agent was deleted, so that no new session runs on it. */
  readonly superseded: boolean;
  /** Whether the runtime has a prepared project that only this deployment uses. */
  readonly prepared: boolean;
  readonly minAgents: number;
  readonly maxAgents: number;
  /** Time before which the service must not retry after a failure. Null if there was no recent failure. */
  readonly restAfterFailureUntil: Date | null;
};

export type PlannedInstance = {
  readonly id: string;
  readonly deploymentId: string;
  readonly sessionId: string | null;
  readonly state: Exclude<InstanceState, 'ended'>;
  readonly readyAt: Date | null;
  /** Whether the runtime lists the instance as not exited. */
  readonly running: boolean;
  /** Whether the platform has announced that it will end the instance. */
  readonly leaving: boolean;
  /** Whether another instance should replace this one, because it would start by a better method (`findReplaceable`). */
  readonly replaceable: boolean;
  /** Whether this process is starting or stopping the instance. */
  readonly busy: boolean;
};

export type PlannedSession = {
  readonly id: string;
  readonly state: Exclude<SessionState, 'ended'>;
  readonly transport: SessionTransport;
  readonly createdAt: Date;
  readonly requestedAt: Date | null;
  readonly botStartedAt: Date | null;
  readonly maxSeconds: number;
  readonly instanceId: string | null;
  /** Whether this process owns the session, because it holds the session's request or relays its WebSocket. */
  readonly owned: boolean;
  /** Whether the server process that relayed the session's WebSocket has ended. */
  readonly relayLost: boolean;
};

export type ObservedState = {
  readonly now: Date;
  /** Whether the service is shutting down. It then starts an instance only if a session waits for the instance. */
  readonly draining: boolean;
  readonly deployments: readonly PlannedDeployment[];
  readonly instances: readonly PlannedInstance[];
  readonly sessions: readonly PlannedSession[];
  /** Ids of orphans: instances that the runtime lists, also exited ones, but that have no open row in the database. */
  readonly orphans: readonly string[];
};

export type ReconcileAction =
  | { readonly do: 'prepare-deployment'; readonly deploymentId: string }
  | { readonly do: 'activate-deployment'; readonly deploymentId: string }
  | { readonly do: 'discard-deployment'; readonly deploymentId: string }
  /** `replaces`: one of the new instances replaces an idle one, and may exceed `maxAgents` until that one is retired. */
  | { readonly do: 'provision'; readonly deploymentId: string; readonly idle: number; readonly replaces?: true }
  | { readonly do: 'start-instance'; readonly instanceId: string }
  | { readonly do: 'retire-instance'; readonly instanceId: string }
  | { readonly do: 'stop-instance'; readonly instanceId: string }
  | { readonly do: 'instance-lost'; readonly instanceId: string }
  | { readonly do: 'remove-orphan'; readonly instanceId: string }
  | { readonly do: 'adopt-session'; readonly sessionId: string }
  | { readonly do: 'decide-end'; readonly sessionId: string; readonly status: ServiceDefinedCompletionStatus }
  | {
      readonly do: 'end-session';
      readonly sessionId: string;
      readonly status: ServiceDefinedCompletionStatus;
      readonly at: 'now' | 'last-heartbeat';
      /** If set, ends the session only while it waits for its client, which may connect after the plan was made. */
      readonly only?: 'waiting';
    };

/** Seconds after a bot's limit at which the service ends the session (docs/bot-contract.md, "End of a session"). */
const limitMarginSeconds = 10;

/** Seconds for which the warm pool does not replace a used instance, because that would delay the session's first words. */
const refillDelaySeconds = 2;

/** Pure function that makes all decisions: boot, crash recovery, warm pools, draining, time limits and clean-up. */
export function planReconcileActions(observed: ObservedState): ReconcileAction[] {
  const deployments = new Map(observed.deployments.map((deployment) => [deployment.id, deployment]));
  const sessions = new Map(observed.sessions.map((session) => [session.id, session]));
  const instances = new Map(observed.instances.map((instance) => [instance.id, instance]));
  const byDeployment = groupBy(observed.instances, ({ deploymentId }) => deploymentId);
  return [
    ...observed.sessions.flatMap((session) =>
      planSession(session, instances.get(session.instanceId ?? ''), observed.now),
    ),
    ...observed.instances.flatMap((instance) => planInstance(instance, deployments, sessions, observed)),
    ...observed.deployments.flatMap((deployment) =>
      planDeployment(deployment, byDeployment.get(deployment.id) ?? [], sessions, observed),
    ),
    ...observed.orphans.map((instanceId): ReconcileAction => ({ do: 'remove-orphan', instanceId })),
  ];
}

/** Returns the ids of deployments that may start more instances. */
export function findStartableDeployments({ draining, deployments }: ObservedState): ReadonlySet<string> {
  const startable = deployments.filter(({ superseded, state }) => !draining && !superseded && state !== 'failed');
  return new Set(startable.map(({ id }) => id));
}

function planSession(session: PlannedSession, instance: PlannedInstance | undefined, now: Date): ReconcileAction[] {
  const end = (status: ServiceDefinedCompletionStatus, at: 'now' | 'last-heartbeat' = 'now'): ReconcileAction[] => [
    { do: 'end-session', sessionId: session.id, status, at },
  ];
  if (session.relayLost) return end('SERVICE_INTERRUPTED', 'last-heartbeat');
  switch (session.state) {
    case 'waiting':
      return hasElapsed(session.createdAt, socketTokenLifetimeSeconds, now)
        ? [{ do: 'end-session', sessionId: session.id, status: 'BOT_CONNECTION_TIMEOUT', at: 'now', only: 'waiting' }]
        : [];
    case 'ending':
      return instance === undefined ? end('HTTP_ERROR') : [];
    case 'starting':
      if (isLost(session, instance)) return end('HTTP_ERROR');
      if (instance === undefined) return [];
      if (mustAdopt(session, instance)) return [{ do: 'adopt-session', sessionId: session.id }];
      if (
        instance.state === 'starting' &&
        hasElapsed(session.requestedAt ?? session.createdAt, maxSessionStartWaitSeconds, now)
      ) {
        return [{ do: 'decide-end', sessionId: session.id, status: 'BOT_START_TIMEOUT' }];
      }
      return [];
    case 'live':
      if (isLost(session, instance))
        return end(session.transport === 'websocket' ? 'SERVICE_INTERRUPTED' : 'HTTP_ERROR');
      if (instance === undefined) return [];
      if (pastLimit(session, now)) return [{ do: 'decide-end', sessionId: session.id, status: 'SESSION_TIME_LIMIT' }];
      return mustAdopt(session, instance) ? [{ do: 'adopt-session', sessionId: session.id }] : [];
  }
}

/**
 * Whether the session counts as ended although no event will report its end. This applies only to sessions that this server
 * process does not own: if the instance no longer exists, or if the transport is WebSocket. A WebSocket session is owned by the
 * request that relays its messages, so without an owner the client is no longer connected. For example, the database connection
 * may fail while the service accepts the WebSocket.
 */
function isLost(session: PlannedSession, instance: PlannedInstance | undefined): boolean {
  return !session.owned && (instance === undefined || session.transport === 'websocket');
}

/**
 * Whether this server process must take ownership of the session. False for a WebSocket session, because only the request that
 * relays the session's messages can own the session. False if the instance has exited, because another bot may listen on the
 * instance's port by now.
 */
function mustAdopt(session: PlannedSession, instance: PlannedInstance): boolean {
  const answers = instance.state === 'ready' && instance.running;
  return answers && !session.owned && session.transport !== 'websocket';
}

function pastLimit(session: PlannedSession, now: Date): boolean {
  const margin = session.transport === 'websocket' ? 0 : limitMarginSeconds;
  return session.botStartedAt !== null && hasElapsed(session.botStartedAt, session.maxSeconds + margin, now);
}

function planInstance(
  instance: PlannedInstance,
  deployments: ReadonlyMap<string, PlannedDeployment>,
  sessions: ReadonlyMap<string, PlannedSession>,
  observed: ObservedState,
): ReconcileAction[] {
  const instanceId = instance.id;
  // Wait until the session has ended. Otherwise, the end of the instance would be recorded as the session's end, with a
  // different status and a later time.
  if (sessions.get(instance.sessionId ?? '')?.relayLost) return [];
  if (instance.busy)
    return mustEnd(instance, sessions) || isUnneeded(instance, deployments, observed)
      ? [{ do: 'stop-instance', instanceId }]
      : [];
  // An instance without a process has exited, unless it is just starting.
  if (!instance.running && instance.state !== 'starting') return [{ do: 'instance-lost', instanceId }];
  if (instance.state === 'stopping' || mustEnd(instance, sessions)) return [{ do: 'stop-instance', instanceId }];
  const isNeeded = !observed.draining && mayWait(deployments.get(instance.deploymentId));
  if (instance.sessionId === null && (!isNeeded || instance.leaving)) return [{ do: 'retire-instance', instanceId }];
  if (instance.state === 'starting') return [{ do: 'start-instance', instanceId }];
  return [];
}

/** Whether a deployment may have instances without a session, because it is serving or being validated. */
function mayWait(deployment: PlannedDeployment | undefined): boolean {
  if (deployment === undefined) return false;
  return deployment.serving || isValidating(deployment);
}

function isValidating(deployment: PlannedDeployment): boolean {
  return deployment.state === 'validating' && !deployment.superseded;
}

/**
 * Whether an instance without a session is still starting although it is not needed: the server is shutting down, or the
 * instance's deployment was replaced or has failed. A new session cannot claim an instance of a replaced deployment, because
 * session starts and deployment activations lock the agent.
 */
function isUnneeded(
  instance: PlannedInstance,
  deployments: ReadonlyMap<string, PlannedDeployment>,
  observed: ObservedState,
): boolean {
  if (instance.sessionId !== null || instance.state !== 'starting') return false;
  return observed.draining || !mayWait(deployments.get(instance.deploymentId));
}

/** Whether the instance's session has ended, or is planned to end. */
function mustEnd(instance: PlannedInstance, sessions: ReadonlyMap<string, PlannedSession>): boolean {
  if (instance.sessionId === null || instance.state === 'stopping') return false;
  const session = sessions.get(instance.sessionId);
  return session === undefined || session.state === 'ending';
}

/** Plans the actions for a deployment and its warm pool. `instances` contains only instances of the deployment. */
function planDeployment(
  deployment: PlannedDeployment,
  instances: readonly PlannedInstance[],
  sessions: ReadonlyMap<string, PlannedSession>,
  observed: ObservedState,
): ReconcileAction[] {
  const deploymentId = deployment.id;
  if (deployment.superseded) {
    return deployment.prepared && !deployment.busy && instances.length === 0
      ? [{ do: 'discard-deployment', deploymentId }]
      : [];
  }
  const resting = deployment.restAfterFailureUntil !== null && deployment.restAfterFailureUntil > observed.now;
  if (deployment.state === 'preparing')
    return deployment.busy || resting ? [] : [{ do: 'prepare-deployment', deploymentId }];
  if (!mayWait(deployment) || observed.draining) return [];
  const open = instances.filter((instance) => instance.state !== 'stopping');
  if (isValidating(deployment)) return validate(deployment, open, resting);
  const idle = open.filter((instance) => instance.sessionId === null);
  const opening = open.filter(({ sessionId }) => {
    const requestedAt = sessions.get(sessionId ?? '')?.requestedAt ?? null;
    return requestedAt !== null && !hasElapsed(requestedAt, refillDelaySeconds, observed.now);
  });
  const idleTarget = deployment.minAgents - opening.length;
  const missing = Math.min(idleTarget - idle.length, deployment.maxAgents - open.length);
  if (missing > 0 && !resting) return [{ do: 'provision', deploymentId, idle: idleTarget }];
  if (idle.some(isReplaceable)) return opening.length > 0 ? [] : planReplacement(deployment, open, resting);
  const surplus = idle.length - deployment.minAgents;
  return idle
    .filter(isReady)
    .filter(({ readyAt }) => readyAt !== null && hasElapsed(readyAt, surplusInstanceIdleSeconds, observed.now))
    .slice(0, Math.max(0, surplus))
    .map((instance) => ({ do: 'retire-instance', instanceId: instance.id }));
}

function isReady({ state, running, leaving, busy }: PlannedInstance): boolean {
  return state === 'ready' && running && !leaving && !busy;
}

function isReplaceable(instance: PlannedInstance): boolean {
  return instance.replaceable && isReady(instance);
}

/**
 * Replaces idle instances that would start by a better method now, such as the first one. Replaces one at a time, and
 * retires it only when its replacement is ready, so that a new session always finds a ready instance.
 */
function planReplacement(
  { id: deploymentId, minAgents, maxAgents }: PlannedDeployment,
  open: readonly PlannedInstance[],
  resting: boolean,
): ReconcileAction[] {
  const idle = open.filter((instance) => instance.sessionId === null);
  if (idle.filter(isReady).length > Math.max(minAgents, 1)) {
    const former = idle.filter(isReplaceable).slice(0, 1);
    return former.map(({ id }) => ({ do: 'retire-instance', instanceId: id }));
  }
  const isReplacing = idle.some(({ state }) => state === 'starting');
  if (isReplacing || resting || open.length > maxAgents) return [];
  return [{ do: 'provision', deploymentId, idle: idle.length + 1, replaces: true }];
}

/**
 * Plans the validation of a deployment: starts its warm instances, at least one, and activates the deployment once one
 * of them is ready. Counts only the deployment's own instances, so that validation works even if sessions of the
 * previous deployment use all of the agent's capacity.
 */
function validate(
  deployment: PlannedDeployment,
  open: readonly PlannedInstance[],
  resting: boolean,
): ReconcileAction[] {
  const deploymentId = deployment.id;
  if (open.some((instance) => instance.state === 'ready' && instance.running && !instance.leaving)) {
    return [{ do: 'activate-deployment', deploymentId }];
  }
  const idle = Math.min(Math.max(1, deployment.minAgents), deployment.maxAgents);
  return open.length < idle && !resting ? [{ do: 'provision', deploymentId, idle }] : [];
}

function hasElapsed(since: Date, seconds: number, now: Date): boolean {
  return now.getTime() >= since.getTime() + seconds * 1000;
}
