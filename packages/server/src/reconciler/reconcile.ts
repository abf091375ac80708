import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from '@bothost/runtime';
import type { Logger } from 'pino';
import { findInstance, markEnded } from '../instances/lifecycle.ts';
import type { Sampler } from '../metrics/sampler.ts';
import type { Telemetry } from '../metrics/telemetry.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import { finishSession } from '../sessions/finish.ts';
import { recordEvents } from '../sessions/progress.ts';
import type { SessionDirectory } from '../sessions/session-directory.ts';
import type { Database } from '../store/tables.ts';
import { type AttendContext, type AttendedSession, handOver } from './attend.ts';
import type { Attendance } from './attendance.ts';
import { createBackoff } from './backoff.ts';
import { createDeploymentPreparer } from './deployment-preparer.ts';
import { createExecutor } from './execute.ts';
import { type InstanceWatch, watchInstances } from './instance-events.ts';
import { createInstanceRunner } from './instance-runner.ts';
import { createOutcomes } from './outcomes.ts';
import { type Action, plan } from './plan.ts';
import { createValidation } from './validation.ts';
import { type Rows, readWorld } from './world.ts';

export type ReconcilerContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly logger: Logger;
  readonly runtime: Runtime;
  readonly host: { readonly id: string; readonly region: string };
  readonly serverId: string;
  /** From which the instances' control tokens are derived. */
  readonly key: Buffer;
  /** Opens the secrets that an instance starts with. */
  readonly keyring: Keyring;
  readonly traceKey: Buffer;
  /** Where bots fetch their ICE servers; known once the service listens. */
  readonly iceConfigUrl: () => string;
  readonly attendance: Attendance;
  readonly directory: SessionDirectory;
  readonly sampler: Sampler;
  readonly telemetry: Telemetry;
  /** The last sign of life of the server before this one: when the sockets that it relayed ended. */
  readonly lastHeartbeat: Date | null;
  readonly persist: <T>(write: () => Promise<T>) => Promise<T>;
  /** This server has its region: without it nothing is decided, since another one may be at it. */
  readonly holdsRegion: () => boolean;
};

export type Reconciler = {
  /** Begins to look at the world; call it when the service listens. Resolves when what died with the server before has ended. */
  readonly start: () => Promise<void>;
  /** Looks at the world soon; many calls make one look. */
  readonly kick: () => void;
  /** Hands a session that was just started over to its warm instance; the caller holds its attendance. */
  readonly handOver: (session: AttendedSession) => void;
  /** Ends a session, once. With `only` it ends only one that is still in that state. */
  readonly finish: (sessionId: string, status: string, at?: Date, only?: 'waiting') => Promise<void>;
  /** Resolves when this process has brought a deployment to its end: null when it serves, else what was in the way. */
  readonly deployed: (deploymentId: string) => Promise<string | null>;
  /** No new instances from now on; idle ones are stopped. */
  readonly drain: () => void;
  /** Lets go of everything; bots go on. */
  readonly close: () => Promise<void>;
};

/** Deadlines are looked at this often; everything else is told by events. */
const tickMilliseconds = 1_000;
/** Between two looks, so that a burst of events costs few of them. */
const pauseMilliseconds = 10;

/**
 * Executes `plan` until it is closed: on a kick, on an event, and each second. It reads the world anew at each look, so
 * the next server carries on where this one stops. An action that fails is logged, and planned again if it is still due.
 */
export function createReconciler(context: ReconcilerContext): Reconciler {
  const { db, attendance, directory, runtime, logger, persist } = context;
  const closing = new AbortController();
  // Each session that is attended listens.
  setMaxListeners(0, closing.signal);
  const backoff = createBackoff(context.now);
  const outcomes = createOutcomes<string | null>();
  const preparer = createDeploymentPreparer({ ...context, backoff, outcomes });
  const validation = createValidation({ ...context, backoff, outcomes });
  let started = false;
  let draining = false;
  let wanted = false;
  let loop: Promise<void> | null = null;
  let hasLooked = false;
  let looked: () => void = () => undefined;
  const firstLook = new Promise<void>((resolve) => {
    looked = resolve;
  });

  const attendContext: AttendContext & { directory: SessionDirectory } = {
    ...context,
    closing: closing.signal,
    finish,
    onOpen: directory.opened,
    onLive: (session, startedAt) => {
      context.telemetry.botStarted({ ...session, startedAt });
      logger.info({ sessionId: session.id }, 'a bot has its session');
    },
  };
  const runner = createInstanceRunner({
    ...context,
    validation,
    onReady: (row) => {
      if (row.session_id !== null && row.host !== null && row.port !== null) {
        directory.ready(row.session_id, { host: row.host, port: row.port });
      }
      kick();
    },
    onGone: instanceGone,
  });
  const execute = createExecutor({
    ...context,
    preparer,
    validation,
    runner,
    attendContext,
    finish,
    instanceGone,
    unknownEnd,
    kick,
  });

  async function finish(sessionId: string, status: string, at: Date = context.now(), only?: 'waiting'): Promise<void> {
    const late = context.sampler.take(sessionId);
    const row = await persist(() => finishSession(context, sessionId, status, at, late, only));
    if (row === undefined && only !== undefined) return;
    directory.gone(sessionId);
    attendance.release(sessionId);
    // It had ended: a look that came of this could come to the same again, at once and for ever.
    if (row === undefined) return;
    context.telemetry.sessionEnded(row.completion_status ?? status);
    logger.info({ sessionId, status: row.completion_status }, 'a session ended');
    kick();
  }

  /** Nothing of an instance is left: a session that still had it has lost its bot, which `cause` explains. */
  async function instanceGone(instanceId: string, status: string, cause: string | null, at?: Date): Promise<void> {
    const sessionId = (await persist(() => findInstance(db, instanceId)))?.session_id ?? null;
    if (sessionId !== null) {
      if (cause !== null) {
        const event = { code: 'INSTANCE_START_FAILED', at: context.now().toISOString(), detail: { cause } };
        await persist(() => recordEvents(db, sessionId, [event]));
      }
      await finish(sessionId, status, at);
    }
    // Before the row ends, since nobody looks for what belongs to a row that has: a start may have left files and no process.
    await runtime.forget(instanceId);
    await persist(() => markEnded(context, instanceId));
    kick();
  }

  function kick() {
    wanted = true;
    if (!started || closing.signal.aborted) return;
    loop ??= look().finally(() => {
      loop = null;
      // One that came after the last look and before this.
      if (wanted) kick();
    });
  }

  async function look(): Promise<void> {
    while (wanted && !closing.signal.aborted) {
      wanted = false;
      try {
        if (context.holdsRegion()) await reconcile();
      } catch (error) {
        logger.error({ err: error }, 'the state of the service could not be read');
      }
      await delay(pauseMilliseconds);
    }
  }

  async function reconcile(): Promise<void> {
    const { world, rows } = await readWorld(context, {
      isAttended: attendance.has,
      isBusyInstance: (id) => runner.isBusy(id) || (watching?.isEnding(id) ?? false),
      isBusyDeployment: preparer.isBusy,
      restAfterFailureUntil: backoff.until,
      serverId: context.serverId,
      draining,
    });
    // The row says it again for a session that came to be known just after its instance was ready.
    for (const { id, instance_state: state, instance_host: address, instance_port: port } of rows.sessions.values()) {
      if (state === 'ready' && address !== null && port !== null) directory.ready(id, { host: address, port });
    }
    // Whoever waits for a deployment that is not wanted any more would wait for ever.
    for (const id of outcomes.awaited()) {
      const row = rows.deployments.get(id);
      if (row?.desired_deployment_id !== id || row.deleted_at !== null) outcomes.settle(id, 'it is no longer wanted');
    }
    const actions = plan(world);
    const results = actions.map((action) => run(action, rows));
    if (hasLooked) return;
    await Promise.all(results.filter((_, index) => isOfThePast(actions[index])));
    hasLooked = true;
    looked();
  }

  /** Actions run on their own: a bot that takes its time must not hold up the others. */
  function run(action: Action, rows: Rows): Promise<void> {
    logger.debug({ action }, 'reconcile');
    return execute(action, rows).catch((error: unknown) => {
      if (!closing.signal.aborted) logger.error({ err: error, action }, 'an action of the reconciler failed');
    });
  }

  /** When something ended that nobody saw: with the server before this one, or now. */
  function unknownEnd(): Date {
    return hasLooked || context.lastHeartbeat === null ? context.now() : context.lastHeartbeat;
  }

  let watching: InstanceWatch | null = null;
  let timer: NodeJS.Timeout | undefined;

  return {
    start: () => {
      started = true;
      const { signal } = closing;
      watching = watchInstances({ ...context, signal, finish, kick, unknownEnd, onIdleExit: validation.idleExit });
      timer = setInterval(kick, tickMilliseconds);
      kick();
      return firstLook;
    },
    kick,
    deployed: outcomes.settled,
    finish,
    handOver: (session) => {
      handOver(attendContext, session).catch((error: unknown) => {
        if (closing.signal.aborted) return;
        logger.error({ err: error, sessionId: session.id }, 'a hand-over failed');
        // Nobody's again: the next look asks its bot.
        attendance.release(session.id);
        kick();
      });
    },
    drain: () => {
      draining = true;
      kick();
    },
    close: async () => {
      clearInterval(timer);
      closing.abort();
      looked();
      await watching?.done;
      await loop;
    },
  };
}

/** What ends with the server before this one: later looks could not tell any more when that was. */
function isOfThePast(action: Action | undefined): boolean {
  return action?.do === 'end-session' || action?.do === 'instance-lost';
}
