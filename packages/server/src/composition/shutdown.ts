import type { Runtime } from '@bothost/runtime';
import { withAnySignal } from '../concurrency/any-signal.ts';
import type { ServiceContext } from '../context.ts';
import { listOpenInstances } from '../instances/lifecycle.ts';
import { sessionStopTimeoutSeconds, terminationGraceMs } from '../reconciler/instance-runner.ts';
import { listOpenSessions, recordEndCause } from '../sessions/progress.ts';
import type { Teardown } from './teardown.ts';

type Parts = Pick<ServiceContext, 'db' | 'now' | 'logger' | 'host' | 'reconciler'> & {
  readonly runtime: Runtime;
  readonly teardown: Pick<Teardown, 'announce' | 'end'>;
  readonly leave: boolean;
  readonly graceSeconds: number;
  readonly rejectSessions: () => void;
  /** Stops instances that no session uses. */
  readonly drain: () => void;
};

/** Milliseconds for instances to end after the grace period: for the stop request and for SIGTERM, and 10 s more. */
const instancesMs = sessionStopTimeoutSeconds * 1000 + terminationGraceMs + 10_000;
/** Time to record the end of a killed bot, in milliseconds. */
const killMs = 5_000;

/**
 * `close` shuts the service down: it rejects new sessions, waits for live ones during a grace period, ends the rest with
 * `SESSION_STOPPED`, then stops instances and the database. A second `close` ends the grace period and kills bots that
 * have not ended. With `leave`, the shutdown waits only for sessions whose WebSocket this server relays, and bots and the database
 * keep running. `abandon` kills this server's bots without writing to the database.
 */
export function createShutdown(parts: Parts): { close: () => Promise<void>; abandon: () => Promise<void> } {
  let done: Promise<void> | null = null;
  const hurry = new AbortController();
  return {
    close: () => {
      if (done !== null) hurry.abort();
      done ??= close(parts, hurry.signal);
      return done;
    },
    abandon: () => {
      done ??= takeDown(parts, async () => {
        await killBots(parts);
        await parts.runtime.retain(new Set());
      });
      return done;
    },
  };
}

async function close(parts: Parts, hurry: AbortSignal): Promise<void> {
  parts.rejectSessions();
  if (parts.leave) {
    await waitForRelays(parts, hurry);
  } else {
    parts.drain();
    await endSessions(parts, hurry).catch((error: unknown) => {
      parts.logger.error(
        { err: error },
        'some sessions could not be ended; the service continues them when it starts again',
      );
    });
  }
  await takeDown(parts, async () => {
    if (!parts.leave) await parts.runtime.retain(new Set());
  });
}

async function takeDown(parts: Parts, before: () => Promise<void>): Promise<void> {
  parts.teardown.announce();
  await before();
  await parts.teardown.end();
}

async function killBots({ runtime, logger }: Parts): Promise<void> {
  for (const instanceId of await listRunning(runtime)) {
    await runtime.stop(instanceId, 0).catch((error: unknown) => {
      logger.error({ instanceId, err: error }, 'bot could not be killed');
    });
  }
}

async function waitForRelays(parts: Parts, hurry: AbortSignal): Promise<void> {
  const { db, host, graceSeconds } = parts;
  const hasNone = async () => (await listOpenSessions(db, host.region)).every(({ relay_id }) => relay_id === null);
  await until(hasNone, parts, [hurry, AbortSignal.timeout(graceSeconds * 1000)]);
}

async function endSessions(parts: Parts, hurry: AbortSignal): Promise<void> {
  const { db, host } = parts;
  const open = async () => (await listOpenSessions(db, host.region)).filter((session) => session.state !== 'ended');
  const endWaiting = async () => {
    const sessions = await open();
    // End waiting sessions at once: their clients have not connected, so no call is interrupted.
    for (const { id } of sessions.filter(({ state }) => state === 'waiting')) {
      await parts.reconciler.endSession(id, 'SESSION_STOPPED', parts.now(), 'waiting');
    }
    return sessions.every(({ state }) => state === 'waiting');
  };
  await until(endWaiting, parts, [hurry, AbortSignal.timeout(parts.graceSeconds * 1000)]);
  const recordCauses = async () => {
    for (const session of await open()) await recordEndCause(parts, session.id, 'SESSION_STOPPED');
  };
  // Continue if the database fails, so that the bots are stopped anyway.
  await recordCauses().catch((error: unknown) => {
    parts.logger.error(
      { err: error },
      'sessions could not be stopped; the service records their ends when it starts again',
    );
  });
  parts.reconciler.requestReconcile();
  const reached = async () => (await open()).length === 0 && (await isEmpty(parts));
  await until(reached, parts, [hurry, AbortSignal.timeout(instancesMs)]);
  if (await reached().catch(() => false)) return;
  await killBots(parts);
  await until(reached, parts, [AbortSignal.timeout(killMs)]);
}

/** Whether the host has no instances, also in the database: the runtime does not list one that is about to start. */
async function isEmpty({ db, host, runtime }: Parts): Promise<boolean> {
  return (await listOpenInstances(db, host.id)).length === 0 && (await listRunning(runtime)).length === 0;
}

async function listRunning(runtime: Runtime): Promise<readonly string[]> {
  const instances = await runtime.list();
  return instances.filter(({ state }) => state !== 'exited').map(({ instanceId }) => instanceId);
}

/** Waits for a condition or an abort. Checks it after each reconcile pass, even if an earlier check failed. */
function until(
  reached: () => Promise<boolean>,
  { reconciler, logger }: Pick<Parts, 'reconciler' | 'logger'>,
  signals: readonly AbortSignal[],
): Promise<void> {
  return withAnySignal(signals, async (signal) => {
    while (!signal.aborted) {
      // Start waiting for the next reconcile pass before checking the condition, so that no pass is missed.
      const pass = reconciler.nextPass(signal);
      const isReached = await reached().catch((error: unknown) => {
        logger.warn({ err: error }, 'progress of the shutdown could not be checked');
        return false;
      });
      if (isReached) return;
      await pass;
    }
  });
}
