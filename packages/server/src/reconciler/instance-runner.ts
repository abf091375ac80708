import {
  agentProfileResources,
  type ConversationLevel,
  createTimeout,
  getLowerConversationLevel,
  hasConversationText,
  iceServersPath,
  type SessionCompletionStatus,
} from '@bothost/contract';
import { type InstanceSpec, type Runtime, StartError } from '@bothost/runtime';
import { type DeploymentToReconcile, recordPreparedProject, recordTransports } from '../agents/deployment-state.ts';
import { type AcceptingRegion, findSourceProblem } from '../agents/source-problem.ts';
import { getInstanceAddress } from '../instances/address.ts';
import { deriveControlToken } from '../instances/control-token.ts';
import { describeEventPublisher } from '../instances/event-publisher.ts';
import { createInstanceUrl } from '../instances/instance-secret.ts';
import { findInstance, markReady, markStopping, type OpenInstanceRow } from '../instances/lifecycle.ts';
import { decryptForDeployment, SecretsUnavailableError } from '../secrets/pin.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import { countInstanceReplacements, maxInstanceReplacements } from '../sessions/replace-instance.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { SessionTransport } from '../store/tables.ts';
import { requestSessionState, requestSessionStop } from './bot-http.ts';
import { createCredentialsProvider } from './image-pull.ts';
import type { InstanceStartQueue } from './instance-start-queue.ts';
import { redactStartError } from './redact.ts';
import type { InstanceReplacer } from './replace-instance.ts';
import type { SessionOwnershipRegistry } from './session-ownership.ts';
import { createStartDeadline, type StartDeadline } from './start-deadline.ts';
import type { DeploymentValidator } from './validation.ts';

export type InstanceRunnerContext = Pick<StoreContext, 'db' | 'now' | 'logger' | 'retryWrite'> & {
  readonly host: AcceptingRegion;
  readonly runtime: Pick<Runtime, 'start' | 'stop'>;
  readonly key: Buffer;
  readonly ownership: SessionOwnershipRegistry;
  readonly startInTurn: InstanceStartQueue;
  /** Returns a signal that aborts when a bot that is launched now takes too long to become ready. */
  readonly startDeadline: () => AbortSignal;
  /**
   * Returns a signal that aborts when the platform takes too long to launch a bot, for example to pull its image. The limit is
   * longer while the deployment is validated, because no session waits for the instance then.
   */
  readonly launchDeadline: (isValidating: boolean) => AbortSignal;
  /** Aborts when the server closes. From then on, the next server process is responsible for starting instances. */
  readonly closing: AbortSignal;
  readonly validation: Pick<DeploymentValidator, 'started' | 'startFailed'>;
  readonly keyring: Keyring;
  /** The most that the operator allows to keep of conversations. */
  readonly maxConversationLevel: ConversationLevel;
  /** Returns the URL at which bots reach the service. Null if they cannot. */
  readonly internalUrl: () => string | null;
  readonly replaceInstance: InstanceReplacer;
  /** Resolves after the time to wait before a session gets another instance, or when the signal aborts. */
  readonly waitBeforeReplacement: (earlierReplacements: number, signal: AbortSignal) => Promise<void>;
  /** Called when an instance is ready. `row` names the session that waits for the instance, if any. */
  readonly onReady: (row: OpenInstanceRow) => void;
  /** Called after an instance has ended. `cause` says why it failed to start; null if it did not fail. */
  readonly onRemoved: (instanceId: string, status: SessionCompletionStatus, cause: string | null) => Promise<void>;
};

export type InstanceRunner = {
  readonly start: (row: OpenInstanceRow, deployment: DeploymentToReconcile) => Promise<void>;
  readonly stop: (row: OpenInstanceRow, transport: SessionTransport) => Promise<void>;
  readonly isBusy: (instanceId: string) => boolean;
};

/**
 * Time for a bot to end its session after the stop request (docs/bot-contract.md, "Stop"). A Pipecat pipeline takes up to 20 s.
 */
export const sessionStopTimeoutSeconds = 25;
/** Milliseconds between SIGTERM and SIGKILL. */
export const terminationGraceMs = 5_000;
/** Added to the maximum length of a session: the time to stop it at its limit, and the time to end its bot. */
const drainMarginSeconds = 60;
const firstStatusTimeoutMs = 2_000;

export function createInstanceRunner(context: InstanceRunnerContext): InstanceRunner {
  const starting = new Map<string, AbortController>();
  const stopping = new Set<string>();

  async function start(row: OpenInstanceRow, deployment: DeploymentToReconcile): Promise<void> {
    const abort = new AbortController();
    // Set when the instance leaves the start queue, so that the time in the queue does not count.
    const turn: { deadline: StartDeadline | null } = { deadline: null };
    starting.set(row.id, abort);
    try {
      // Read the state again, because an earlier start may have ended after `row` was read.
      const current = await context.retryWrite(() => findInstance(context.db, row.id));
      if (current?.state !== 'starting') return;
      requireAcceptedSource(context.host, deployment);
      const { address, prepared } = await context.startInTurn(deployment.organization_id, abort.signal, async () => {
        context.closing.throwIfAborted();
        const isValidating = deployment.state === 'validating' && row.session_id === null;
        const deadline = createStartDeadline(context.launchDeadline(isValidating), context.startDeadline);
        turn.deadline = deadline;
        const signal = AbortSignal.any([abort.signal, deadline.signal]);
        return context.runtime.start(specOf(context, row, deployment), signal, deadline.launched);
      });
      if (prepared !== undefined)
        await context.retryWrite(() => recordPreparedProject(context, row.deployment_id, prepared));
      // Clear the deadline: a later failure must not be reported as a start timeout.
      turn.deadline = null;
      const asking = AbortSignal.any([abort.signal, createTimeout(firstStatusTimeoutMs)]);
      const known = await requestSessionState(address, deriveControlToken(context.key, row.id), 0, asking).catch(
        () => null,
      );
      const ready = await context.retryWrite(() => markReady(context, row.id, address, known !== null));
      await context.retryWrite(() => recordTransports(context.db, deployment, known?.transports ?? []));
      await context.validation.started(deployment);
      if (ready !== undefined) context.onReady(ready);
    } catch (error) {
      // Do not stop the instance, because it may still become ready. The next server process adopts it, or starts it again.
      if (context.closing.aborted) return;
      if (abort.signal.aborted) await removed(row, 'HTTP_ERROR', null);
      else await failed(row, deployment, error, turn.deadline?.missed() ?? null, abort.signal);
    } finally {
      starting.delete(row.id);
    }
  }

  async function failed(
    row: OpenInstanceRow,
    deployment: DeploymentToReconcile,
    reason: unknown,
    missed: ReturnType<StartDeadline['missed']>,
    canceled: AbortSignal,
  ): Promise<void> {
    const { id: instanceId, deployment_id: deploymentId } = row;
    const late = missed === 'start';
    const error = missed === 'launch' ? launchTimeout(reason) : await redactStartError(context, deploymentId, reason);
    // The log of the service must not contain the output of bots.
    const logged = error instanceof StartError ? { reason: error.message, err: error.cause } : { err: error };
    context.logger.warn({ instanceId, deploymentId, ...logged }, 'instance start failed');
    const current = await context.retryWrite(() => findInstance(context.db, instanceId));
    await context.validation.startFailed(deployment, error, { isLate: late, sessionId: current?.session_id ?? null });
    const message = error instanceof Error ? error.message : String(error);
    if (missed === null && isPlatformFailure(error)) await replace(row, message, canceled);
    // A server that shuts down leaves the session to the next one, which starts the instance again.
    if (context.closing.aborted) return;
    await removed(row, missed === null ? 'HTTP_ERROR' : 'BOT_START_TIMEOUT', message);
  }

  /** Gives the session of an instance that the platform did not start another instance, unless it had too many. */
  async function replace(row: OpenInstanceRow, cause: string, canceled: AbortSignal): Promise<void> {
    const current = await context.retryWrite(() => findInstance(context.db, row.id));
    const sessionId = current?.session_id ?? null;
    if (sessionId === null) return;
    const earlier = await context.retryWrite(() => countInstanceReplacements(context.db, sessionId));
    if (earlier === null || earlier >= maxInstanceReplacements) return;
    await context.waitBeforeReplacement(earlier, AbortSignal.any([canceled, context.closing]));
    if (!canceled.aborted && !context.closing.aborted)
      await context.replaceInstance({ id: sessionId, instanceId: row.id }, cause);
  }

  async function removed(row: OpenInstanceRow, status: SessionCompletionStatus, cause: string | null): Promise<void> {
    await context.runtime.stop(row.id, 0);
    await context.onRemoved(row.id, status, cause);
  }

  /** Ends the session first, then sends SIGTERM and, if necessary, SIGKILL (docs/bot-contract.md, "Stop"). */
  async function stop(row: OpenInstanceRow, transport: SessionTransport): Promise<void> {
    if (stopping.has(row.id)) return;
    stopping.add(row.id);
    try {
      await context.retryWrite(() => markStopping(context.db, row.id));
      starting.get(row.id)?.abort();
      if (row.session_id !== null) await endByItself(row, row.session_id, transport);
      await context.runtime.stop(row.id, terminationGraceMs);
      await context.onRemoved(row.id, 'HTTP_ERROR', null);
    } finally {
      stopping.delete(row.id);
    }
  }

  async function endByItself(row: OpenInstanceRow, sessionId: string, transport: string): Promise<void> {
    if (!context.ownership.has(sessionId)) return;
    // If the instance has no address yet, disconnect the client that waits for the address. The client would see the end of the
    // instance as a failure of the bot.
    const address = getInstanceAddress(row);
    if (address === null) return context.ownership.abort(sessionId);
    const canBeAsked = row.reports_session && transport !== 'websocket';
    const hasAccepted =
      canBeAsked &&
      (await requestSessionStop(address, deriveControlToken(context.key, row.id), sessionStopTimeoutSeconds - 5));
    if (hasAccepted)
      return context.ownership.released(sessionId, AbortSignal.timeout(sessionStopTimeoutSeconds * 1000));
    context.ownership.abort(sessionId);
    // Wait up to `terminationGraceMs` until the session is released, for example because both sides have closed its WebSocket.
    // Then SIGTERM is sent.
    await context.ownership.released(sessionId, AbortSignal.timeout(terminationGraceMs));
  }

  return { start, stop, isBusy: (id) => starting.has(id) || stopping.has(id) };
}

/** Whether another instance may start although this one did not. */
function isPlatformFailure(error: unknown): boolean {
  if (!(error instanceof StartError) || error.cause instanceof SecretsUnavailableError) return false;
  return error.kind === 'capacity' || error.kind === 'platform';
}

/** The error of a start whose bot was never launched. The bot did not cause it. */
function launchTimeout(reason: unknown): StartError {
  const message = reason instanceof Error ? reason.message : String(reason);
  return new StartError(`The platform did not run the bot in time. ${message}`, null, { kind: 'capacity' });
}

/** The operator has changed the runtime since the deployment was prepared, and the new one cannot start it. */
function requireAcceptedSource(host: AcceptingRegion, { agent_name: name, source }: DeploymentToReconcile): void {
  const problem = findSourceProblem(host, name, source);
  if (problem !== null) throw new StartError(problem.message, null, { kind: 'bot' });
}

function specOf(context: InstanceRunnerContext, row: OpenInstanceRow, deployment: DeploymentToReconcile): InstanceSpec {
  return {
    instanceId: row.id,
    deploymentId: row.deployment_id,
    organizationId: deployment.organization_id,
    agentId: deployment.agent_id,
    prepared: deployment.prepared ?? {},
    limits: agentProfileResources[deployment.profile],
    forks: deployment.fork,
    environment: async () => ({
      ...logEnvironment(context, deployment, await secretsOf(context, deployment)),
      // A bot that gets no list of ICE servers uses host candidates only, and not a public server that the operator did not configure.
      PIPECAT_ICE_SERVERS: '[]',
      PYTHON_DOTENV_DISABLED: '1',
      PYTHONUNBUFFERED: '1',
      IMAGE_VERSION: row.deployment_id,
    }),
    instanceEnvironment: () => ({
      BOT_CONTROL_TOKEN: deriveControlToken(context.key, row.id),
      ...describeIceServers(context, row.id),
      ...(deployment.source.kind === 'image' ? describeEventPublisher(context, row.id) : {}),
    }),
    ...(deployment.source.kind === 'image' ? { credentials: createCredentialsProvider(context, deployment) } : {}),
    drainSeconds: deployment.max_session_seconds + drainMarginSeconds,
  };
}

/** Returns the URL at which an instance reads the ICE servers of its session, if it reaches the service. */
function describeIceServers(
  context: Pick<InstanceRunnerContext, 'internalUrl' | 'key'>,
  instanceId: string,
): Readonly<Record<string, string>> {
  const url = createInstanceUrl(context, instanceId, iceServersPath);
  return url === null ? {} : { ICE_CONFIG_URL: url };
}

/**
 * Adds the log level to the secrets. Pipecat logs conversations at DEBUG, so a bot whose sessions keep no text, or only redacted
 * text, gets INFO. A level that a secret sets is the user's choice and stays. Otherwise, `BOTHOST_LIMIT_SESSION_LOG` makes the Python
 * host follow the level of the session, which can differ from that of the agent at the start of the instance.
 */
function logEnvironment(
  { maxConversationLevel }: InstanceRunnerContext,
  { conversation_level: agentLevel, conversation_redact: redact }: DeploymentToReconcile,
  secrets: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (Object.hasOwn(secrets, 'PIPECAT_LOG_LEVEL')) return secrets;
  const level = getLowerConversationLevel(agentLevel, maxConversationLevel);
  const logLevel = hasConversationText(level) && redact.length === 0 ? 'DEBUG' : 'INFO';
  return { ...secrets, PIPECAT_LOG_LEVEL: logLevel, BOTHOST_LIMIT_SESSION_LOG: '1' };
}

/** Loads an instance's secrets. Retries while the database is unreachable, so that the start is delayed instead of failing. */
function secretsOf(
  context: InstanceRunnerContext,
  { organization_id: organizationId, region, secret_pins: pins }: DeploymentToReconcile,
) {
  return context.retryWrite(() => decryptForDeployment(context, { organizationId, region, pins }));
}
