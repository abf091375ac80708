import { setTimeout as delay } from 'node:timers/promises';
import type { Runtime } from '@bothost/runtime';
import type { Context } from '../context.ts';
import { listOpenInstances } from '../instances/lifecycle.ts';
import { decideEnd, listOpenSessions } from '../sessions/progress.ts';
import type { Teardown } from './teardown.ts';

type Parts = Pick<Context, 'db' | 'now' | 'logger' | 'host' | 'reconciler'> & {
  readonly runtime: Runtime;
  readonly teardown: Pick<Teardown, 'announce' | 'end'>;
  readonly leave: boolean;
  readonly graceSeconds: number;
  readonly drain: () => void;
};

/** How often the end of the last session or instance is looked for. */
const lookMilliseconds = 100;
/** Instances are given this long after their sessions: asking (25 s), SIGTERM (5 s) and the rest. */
const instancesMilliseconds = 40_000;
/** What a killed bot's record may take. */
const killMilliseconds = 5_000;

/**
 * The stop of decisions, "stop": no new sessions, a grace for the live ones, then `SESSION_STOPPED`, instances, database.
 * The first `close` waits for all of it; a second one ends the grace, and bots that are still ending are killed. With
 * `leave` bots and database go on without a server. `abandon` kills this server's bots and writes nothing.
 */
export function shutDown(parts: Parts): { close: () => Promise<void>; abandon: () => Promise<void> } {
  let done: Promise<void> | null = null;
  const hurry = new AbortController();
  return {
    close: () => {
      if (done !== null) hurry.abort();
      done ??= close(parts, hurry.signal);
      return done;
    },
    abandon: () => {
      done ??= takeDown(parts, () => killBots(parts));
      return done;
    },
  };
}

async function close(parts: Parts, hurry: AbortSignal): Promise<void> {
  if (!parts.leave) {
    parts.drain();
    await endSessions(parts, hurry).catch((error: unknown) => {
      parts.logger.error({ err: error }, 'not all sessions could be ended cleanly; the next start picks them up');
    });
  }
  await takeDown(parts, () => Promise.resolve());
}

async function takeDown(parts: Parts, before: () => Promise<void>): Promise<void> {
  parts.teardown.announce();
  await before();
  await parts.teardown.end();
}

async function killBots({ runtime, logger }: Parts): Promise<void> {
  for (const { instanceId } of await runtime.list()) {
    await runtime.stop(instanceId, 0).catch((error: unknown) => {
      logger.error({ instanceId, err: error }, 'a bot could not be killed');
    });
  }
}

async function endSessions(parts: Parts, hurry: AbortSignal): Promise<void> {
  const { db, host } = parts;
  const open = async () => (await listOpenSessions(db, host.region)).filter((session) => session.state !== 'ended');
  // One whose client has not come takes nothing with it.
  for (const session of await open()) {
    if (session.state === 'waiting')
      await parts.reconciler.endSession(session.id, 'SESSION_STOPPED', parts.now(), 'waiting');
  }
  await until(async () => (await open()).length === 0, parts.graceSeconds * 1000, hurry);
  for (const session of await open()) await decideEnd(parts, session.id, 'SESSION_STOPPED');
  parts.reconciler.requestReconcile();
  const reached = async () => (await open()).length === 0 && (await isEmpty(parts));
  await until(reached, instancesMilliseconds, hurry);
  if (await reached()) return;
  await killBots(parts);
  await until(reached, killMilliseconds);
}

/** The rows count too: an instance that is just being started is not among those that run yet. */
async function isEmpty({ db, host, runtime }: Parts): Promise<boolean> {
  return (await listOpenInstances(db, host.id)).length === 0 && (await runtime.list()).length === 0;
}

async function until(reached: () => Promise<boolean>, milliseconds: number, hurry?: AbortSignal): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!(hurry?.aborted ?? false) && Date.now() < deadline && !(await reached())) await delay(lookMilliseconds);
}
