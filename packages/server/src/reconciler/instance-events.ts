import type { DeploySource, SessionCompletionStatus, SessionEventCode } from '@bothost/contract';
import type { InstanceEvent, InstanceExit, InstanceNotice, Runtime } from '@bothost/runtime';
import { protectEventText } from '../conversations/event-text.ts';
import {
  findInstance,
  markEnded,
  type OpenInstanceRow,
  recordInstanceEvent,
  retireInstance,
} from '../instances/lifecycle.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import { findSessionState, markLive, recordEvents } from '../sessions/progress.ts';
import type { SessionAddressRegistry } from '../sessions/session-address-registry.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { StoredSessionEvent } from '../store/tables.ts';
import { isColdStart } from './cold-start.ts';
import { deriveStatusFromBotExit } from './completion.ts';
import { mustDrain } from './drain-bot.ts';
import { terminationGraceMs } from './instance-runner.ts';
import { redactOutputTail } from './redact.ts';
import type { InstanceReplacer } from './replace-instance.ts';
import type { SessionOwnershipRegistry } from './session-ownership.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'logger' | 'retryWrite'> & {
  readonly keyring: Keyring;
  readonly host: { readonly id: string; readonly accepts: DeploySource };
  readonly runtime: Pick<Runtime, 'watch' | 'forget'>;
  readonly ownership: SessionOwnershipRegistry;
  readonly sessionAddresses: Pick<SessionAddressRegistry, 'instanceExited' | 'known'>;
  /** Id of this server process, which relays the WebSockets of its sessions. */
  readonly serverId: string;
  readonly signal: AbortSignal;
  readonly replaceInstance: InstanceReplacer;
  readonly endSession: (sessionId: string, status: SessionCompletionStatus, at?: Date) => Promise<void>;
  readonly requestReconcile: () => void;
  /** Returns the end time to record for a session or instance whose end no server observed. */
  readonly unobservedEndAt: () => Date;
  /** Called when an instance exits by itself before it had a session. */
  readonly onIdleExit: (deploymentId: string, exit: InstanceExit) => Promise<void>;
};

export type InstanceWatcher = {
  /** Whether the end of an instance is being recorded. Such an instance must not be treated as lost. */
  readonly isEnding: (instanceId: string) => boolean;
  /** Whether the exit of an instance was observed, but could not be recorded. No further event will report it. */
  readonly isUnrecorded: (instanceId: string) => boolean;
  readonly done: Promise<void>;
};

/**
 * Time to wait, after a bot has exited, for its response to `POST /bot`. The response gives a more
 * precise reason than the exit status. Linux takes three seconds to report that it does not reach a removed container, and the
 * session then gets another instance.
 */
const botResponseTimeoutMs = 5_000;

/** Records runtime events until the signal aborts, beginning with events that occurred while no server was running. */
export function watchInstances(context: Context): InstanceWatcher {
  const ending = new Set<string>();
  const unrecorded = new Set<string>();

  async function watch(): Promise<void> {
    for await (const event of context.runtime.watch(context.signal)) {
      // Drop the address immediately, because another program may listen on the instance's port by now.
      if (event.kind === 'stopped' || event.kind === 'exited')
        context.sessionAddresses.instanceExited(event.instanceId);
      if (event.kind === 'stopped') continue;
      if (event.kind === 'exited') ending.add(event.instanceId);
      handle(context, event)
        .then(() => unrecorded.delete(event.instanceId))
        .catch((error: unknown) => {
          if (event.kind === 'exited') unrecorded.add(event.instanceId);
          if (!context.signal.aborted)
            context.logger.error({ err: error, event: event.kind }, 'instance event could not be recorded');
        })
        .finally(() => {
          if (event.kind === 'exited') ending.delete(event.instanceId);
        });
    }
  }

  return {
    isEnding: (instanceId) => ending.has(instanceId),
    isUnrecorded: (instanceId) => unrecorded.has(instanceId),
    done: watch(),
  };
}

type ExitEvent = Extract<InstanceEvent, { kind: 'exited' }>;

async function handle(context: Context, event: Exclude<InstanceEvent, { kind: 'stopped' }>): Promise<void> {
  const { db, retryWrite } = context;
  if (event.kind === 'noticed') return notice(context, event);
  if (event.kind === 'replaceable') return context.requestReconcile();
  if (event.kind === 'leaving') {
    context.logger.info({ instanceId: event.instanceId, detail: event.detail }, 'instance leaving');
    // Retire the instance now, so that no session claims it before the next pass.
    await retryWrite(() => retireInstance(db, event.instanceId));
    return context.requestReconcile();
  }
  const unseen = context.unobservedEndAt();
  const instance = await retryWrite(() => findInstance(db, event.instanceId));
  const sessionId = instance?.session_id ?? null;
  const { tail: output, ...how } = event.exit;
  const { reason, code, signal, outOfMemory } = how;
  const tail = instance === undefined ? '' : await redactOutputTail(context, instance.deployment_id, output);
  context.logger.info({ instanceId: event.instanceId, sessionId, reason, code, signal, outOfMemory }, 'instance ended');
  if (instance !== undefined && sessionId === null && instance.state === 'ready' && reason !== 'platform')
    await context.onIdleExit(instance.deployment_id, { ...event.exit, tail });
  if (instance !== undefined && sessionId !== null) {
    const session = await retryWrite(() => findSessionState(db, sessionId));
    const cause = { ...how, ...(code === 0 ? {} : { tail }) };
    const exited: StoredSessionEvent = { code: 'INSTANCE_EXITED', at: event.at.toISOString(), detail: cause };
    if (!wasStopped(event, session?.ended_at ?? null)) {
      // An instance that was never ready had no conversation that its last output could quote.
      const stored = instance.ready_at === null ? exited : await protectEventText(context, sessionId, exited);
      await retryWrite(() => recordEvents(db, sessionId, [stored]));
    }
    await context.ownership.released(sessionId, AbortSignal.timeout(botResponseTimeoutMs));
    if (await hasOtherInstance(context, sessionId, instance)) {
      await context.runtime.forget(event.instanceId);
      await retryWrite(() => markEnded(context, event.instanceId));
      return context.requestReconcile();
    }
    const at = code === null && signal === null ? unseen : event.at;
    await context.endSession(sessionId, await statusByExit(context, sessionId, instance, event.exit), at);
  }
  // Remove the instance's files before its row is marked as ended, because the files of ended instances are not cleaned
  // up.
  await context.runtime.forget(event.instanceId);
  await retryWrite(() => markEnded(context, event.instanceId));
  context.requestReconcile();
}

/** Whether another instance has the session. A session that was never dispatched is given one now. */
async function hasOtherInstance(context: Context, sessionId: string, instance: OpenInstanceRow): Promise<boolean> {
  const { db, retryWrite, ownership } = context;
  const current = await retryWrite(() => findInstance(db, instance.id));
  if (current?.session_id !== sessionId) return true;
  // The relay of a WebSocket owns the session, and may still wait for an address.
  const waitsForAddress = context.sessionAddresses.known(sessionId)?.address === null;
  // A start that failed is the concern of the runner.
  if (instance.state !== 'ready' || (ownership.has(sessionId) && !waitsForAddress)) return false;
  const session = await retryWrite(() => findSessionState(db, sessionId));
  if (session?.state !== 'starting' || session.dispatched_at !== null) return false;
  if (session.transport === 'websocket' && !waitsForAddress) return false;
  const cause = 'The instance ended before it had the session.';
  return (await context.replaceInstance({ id: sessionId, instanceId: instance.id }, cause)) !== null;
}

/**
 * Whether the service itself ended an instance, with SIGTERM or SIGKILL, after its session. The service sends SIGKILL
 * only `terminationGraceMs` after the end of the session, so an earlier SIGKILL has another cause.
 */
function wasStopped({ at, exit }: ExitEvent, sessionEndedAt: Date | null): boolean {
  if (sessionEndedAt === null || exit.reason !== 'exited') return false;
  const afterMs = at.getTime() - sessionEndedAt.getTime();
  return exit.signal === 'SIGKILL' ? afterMs >= terminationGraceMs : exit.signal === 'SIGTERM' && afterMs >= 0;
}

const noticeCodes = {
  'listens-wide': 'INSTANCE_LISTENS_WIDE',
  'cpu-limit-not-enforced': 'INSTANCE_CPU_LIMIT_NOT_ENFORCED',
  'memory-limit-sampled': 'INSTANCE_MEMORY_LIMIT_SAMPLED',
  'output-dropped': 'INSTANCE_OUTPUT_DROPPED',
  pulling: 'INSTANCE_PULLING',
  waiting: 'INSTANCE_WAITING',
} as const satisfies Readonly<Record<InstanceNotice, SessionEventCode>>;

async function notice(context: Context, event: Extract<InstanceEvent, { kind: 'noticed' }>): Promise<void> {
  const { instanceId, detail } = event;
  context.logger.warn({ instanceId, notice: event.notice }, detail);
  const stored: StoredSessionEvent = {
    code: noticeCodes[event.notice],
    at: event.at.toISOString(),
    detail: { detail },
  };
  const sessionId = await context.retryWrite(() => recordInstanceEvent(context.db, instanceId, stored));
  if (sessionId !== null) await context.retryWrite(() => recordEvents(context.db, sessionId, [stored]));
}

/** Returns the status of a session whose end no server observed, derived from the exit of its instance. */
async function statusByExit(
  context: Context,
  sessionId: string,
  instance: OpenInstanceRow,
  exit: Pick<InstanceExit, 'code' | 'signal'>,
): Promise<SessionCompletionStatus> {
  const session = await context.retryWrite(() => findSessionState(context.db, sessionId));
  if (session === undefined) return 'HTTP_ERROR';
  if (session.relay_id !== null && session.relay_id !== context.serverId) return 'SERVICE_INTERRUPTED';
  if (session.bot_started_at === null) {
    // The server was killed after the dispatch, but before it recorded the session as live. Exit code 0 shows that the
    // bot accepted the session.
    const at = session.dispatched_at;
    if (at === null || exit.code !== 0) return 'HTTP_ERROR';
    const cold = isColdStart(instance, session.requested_at);
    await context.retryWrite(() => markLive(context, sessionId, { at, readyAt: instance.ready_at, cold }));
  }
  // The bot exited while its socket was open, so its session did not complete even if the exit code is 0.
  if (session.transport === 'websocket') return 'HTTP_ERROR';
  return deriveStatusFromBotExit(exit, mustDrain(context.host, { reportsSession: instance.reports_session }));
}
