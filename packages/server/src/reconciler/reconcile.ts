import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { activateDeployment, failDeployment, lockForScaling } from '../agents/deployment.ts';
import { findInstance, markEnded, provisionInstances, retireInstance } from '../instances/lifecycle.ts';
import type { Sampler } from '../metrics/sampler.ts';
import type { Telemetry } from '../metrics/telemetry.ts';
import { PrepareError, type Runtime } from '../runtime/runtime.ts';
import { finishSession } from '../sessions/finish.ts';
import { bodyForBot, decideEnd, stateOfSession } from '../sessions/progress.ts';
import type { Directory } from '../sessions/whereabouts.ts';
import type { Database } from '../store/tables.ts';
import { type AttendContext, type AttendedSession, handOver, resume } from './attend.ts';
import type { Attendance } from './attendance.ts';
import { createBackoff } from './backoff.ts';
import { isCold } from './cold.ts';
import { type InstanceWatch, watchInstances } from './instance-events.ts';
import { createInstanceRunner } from './instance-runner.ts';
import { type Action, plan } from './plan.ts';
import { createSettled } from './settled.ts';
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
  /** Where bots fetch their ICE servers; known once the service listens. */
  readonly iceConfigUrl: () => string;
  readonly attendance: Attendance;
  readonly directory: Directory;
  readonly sampler: Sampler;
  readonly telemetry: Telemetry;
  /** The last sign of life of the server before this one: when the sockets that it relayed ended. */
  readonly lastHeartbeat: Date | null;
  readonly persist: <T>(write: () => Promise<T>) => Promise<T>;
};

export type Reconciler = {
  /** Begins to look at the world; call it when the service listens. */
  readonly start: () => void;
  /** Looks at the world soon; many calls make one look. */
  readonly kick: () => void;
  /** Hands a session that was just started over to its warm instance; the caller holds its attendance. */
  readonly handOver: (session: AttendedSession) => void;
  readonly finish: (sessionId: string, status: string, at?: Date) => Promise<void>;
  /** Resolves when none of these deployments is being prepared any more: it serves, or it failed. */
  readonly prepared: (deploymentIds: readonly string[]) => Promise<void>;
  /** No new instances from now on; idle ones are stopped. */
  readonly drain: () => void;
  /** Lets go of everything; bots go on. */
  readonly close: () => Promise<void>;
};

/** Deadlines are looked at this often; everything else is told by events. */
const tickMilliseconds = 1_000;
/** Between two looks, so that a burst of events costs few of them. */
const pauseMilliseconds = 10;

export function createReconciler(context: ReconcilerContext): Reconciler {
  const { db, attendance, directory, runtime, logger, persist } = context;
  const closing = new AbortController();
  const busyDeployments = new Set<string>();
  const preparing = createSettled();
  const backoff = createBackoff(context.now);
  let started = false;
  let draining = false;
  let wanted = false;
  let loop: Promise<void> | null = null;

  const attendContext: AttendContext = {
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
    backoff,
    onReady: (row) => {
      if (row.session_id !== null && row.host !== null && row.port !== null) {
        directory.ready(row.session_id, { host: row.host, port: row.port });
      }
      kick();
    },
    onGone: instanceGone,
  });

  async function finish(sessionId: string, status: string, at: Date = context.now()): Promise<void> {
    const late = context.sampler.take(sessionId);
    const row = await persist(() => finishSession(context, sessionId, status, at, late));
    directory.gone(sessionId);
    attendance.release(sessionId);
    if (row !== undefined) {
      context.telemetry.sessionEnded(row.completion_status ?? status);
      logger.info({ sessionId, status: row.completion_status }, 'a session ended');
    }
    kick();
  }

  /** Nothing of an instance is left: a session that still had it has lost its bot. */
  async function instanceGone(instanceId: string): Promise<void> {
    const row = await persist(() => findInstance(db, instanceId));
    if (row?.session_id != null) await finish(row.session_id, 'HTTP_ERROR');
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
    });
  }

  async function look(): Promise<void> {
    while (wanted && !closing.signal.aborted) {
      wanted = false;
      try {
        const { world, rows } = await readWorld(context, {
          isAttended: attendance.has,
          isBusyInstance: (id) => runner.isBusy(id) || (watching?.isEnding(id) ?? false),
          isBusyDeployment: (id) => busyDeployments.has(id),
          restAfterFailureUntil: backoff.until,
          serverId: context.serverId,
          draining,
        });
        for (const action of plan(world)) run(action, rows);
      } catch (error) {
        logger.error({ err: error }, 'the state of the service could not be read');
      }
      await delay(pauseMilliseconds);
    }
  }

  /** Actions run on their own: a bot that takes its time must not hold up the others. */
  function run(action: Action, rows: Rows): void {
    logger.debug({ action }, 'reconcile');
    execute(action, rows).catch((error: unknown) => {
      if (!closing.signal.aborted) logger.error({ err: error, action }, 'an action of the reconciler failed');
    });
  }

  async function execute(action: Action, rows: Rows): Promise<void> {
    switch (action.do) {
      case 'prepare-deployment':
        return prepare(action.deploymentId, rows);
      case 'provision':
        return provision(action.deploymentId, action.idle, rows);
      case 'start-instance':
        return startInstance(action.instanceId, rows);
      case 'retire-instance':
        if (await retireInstance(db, action.instanceId)) kick();
        return;
      case 'stop-instance': {
        const row = rows.instances.get(action.instanceId);
        return row === undefined ? undefined : runner.stop(row, row.reports_session);
      }
      case 'instance-lost':
        await runtime.stop(action.instanceId, 0);
        return instanceGone(action.instanceId);
      case 'remove-stray':
        await runtime.stop(action.instanceId, 0);
        return runtime.forget(action.instanceId);
      case 'attend-session':
        return attend(action.sessionId, rows);
      case 'decide-end':
        await decideEnd(context, action.sessionId, action.status);
        return kick();
      case 'end-session':
        return finish(action.sessionId, action.status, endTime(action.at));
    }
  }

  function endTime(at: 'now' | 'last-heartbeat'): Date {
    return at === 'last-heartbeat' && context.lastHeartbeat !== null ? context.lastHeartbeat : context.now();
  }

  async function prepare(deploymentId: string, rows: Rows): Promise<void> {
    const row = rows.deployments.get(deploymentId);
    if (row === undefined || busyDeployments.has(deploymentId)) return;
    busyDeployments.add(deploymentId);
    const deployment = { id: deploymentId, agentId: row.agent_id };
    try {
      const prepared = await runtime.prepare({ deploymentId, source: row.source });
      await persist(() => activateDeployment(context, deployment, prepared));
    } catch (error) {
      if (!(error instanceof PrepareError)) throw error;
      await persist(() => failDeployment(context, deployment, error.message));
      logger.warn({ deploymentId, agent: row.agent_name, reason: error.message }, 'a deployment failed');
    } finally {
      busyDeployments.delete(deploymentId);
    }
    preparing.settle(deploymentId);
    kick();
  }

  async function provision(deploymentId: string, idle: number, rows: Rows): Promise<void> {
    const row = rows.deployments.get(deploymentId);
    if (row === undefined) return;
    const added = await db.transaction().execute(async (transaction) => {
      await lockForScaling(transaction, row.agent_id);
      const pool = { deploymentId, agentId: row.agent_id, idle, maxAgents: row.max_agents };
      return provisionInstances({ ...context, db: transaction }, pool);
    });
    if (added > 0) kick();
  }

  async function startInstance(instanceId: string, rows: Rows): Promise<void> {
    const row = rows.instances.get(instanceId);
    const deployment = row === undefined ? undefined : rows.deployments.get(row.deployment_id);
    if (row === undefined || deployment === undefined || runner.isBusy(instanceId)) return;
    return runner.start(row, deployment);
  }

  async function attend(sessionId: string, rows: Rows): Promise<void> {
    const row = rows.sessions.get(sessionId);
    const instance = row?.instance_id == null ? undefined : rows.instances.get(row.instance_id);
    if (row === undefined || instance === undefined || attendance.has(sessionId)) return;
    if (row.transport === 'websocket' || instance.host === null || instance.port === null) return;
    attendance.hold(sessionId);
    // Its row is older than this moment: it may have been attended until just now, and then it has ended.
    const current = await persist(() => stateOfSession(db, sessionId));
    if (current?.state !== 'starting' && current?.state !== 'live') return attendance.release(sessionId);
    const address = { host: instance.host, port: instance.port };
    const owner = { organizationId: row.organization_id, agentName: row.agent_name };
    directory.expect({ sessionId, ...owner, instanceId: instance.id, address });
    const body = await persist(() => bodyForBot(db, sessionId));
    await resume(attendContext, {
      id: sessionId,
      instanceId: instance.id,
      address,
      reportsSession: instance.reports_session,
      transport: row.transport,
      maxSeconds: row.max_session_seconds,
      cold: isCold(instance, row.requested_at),
      requestedAt: row.requested_at,
      claimedAt: row.claimed_at,
      readyAt: instance.ready_at,
      body,
      handedOverAt: row.handed_over_at,
      botStartedAt: row.bot_started_at,
    });
  }

  let watching: InstanceWatch | null = null;
  let timer: NodeJS.Timeout | undefined;

  return {
    start: () => {
      started = true;
      watching = watchInstances({ ...context, signal: closing.signal, finish, kick, onIdleExit: backoff.failed });
      timer = setInterval(kick, tickMilliseconds);
      kick();
    },
    kick,
    prepared: async (ids) => void (await Promise.all(ids.map(preparing.settled))),
    finish,
    handOver: (session) => {
      handOver(attendContext, session).catch((error: unknown) => {
        if (!closing.signal.aborted) logger.error({ err: error, sessionId: session.id }, 'a hand-over failed');
      });
    },
    drain: () => {
      draining = true;
      kick();
    },
    close: async () => {
      clearInterval(timer);
      closing.abort();
      await watching?.done;
      await loop;
    },
  };
}
