import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Context } from './context.ts';
import { listOpenInstances } from './instances/lifecycle.ts';
import type { Runtime } from './runtime/runtime.ts';
import { finishSession } from './sessions/finish.ts';
import { decideEnd, listOpenSessions } from './sessions/progress.ts';
import type { Store } from './store/open-store.ts';

type Parts = Pick<Context, 'db' | 'now' | 'logger' | 'host' | 'reconciler' | 'attendance'> & {
  readonly app: FastifyInstance;
  readonly runtime: Runtime;
  readonly rounds: { readonly stop: () => Promise<void> };
  readonly store: Store;
  readonly closing: AbortController;
  readonly leave: boolean;
  readonly graceSeconds: number;
  readonly drain: () => void;
};

/** How often the end of the last session or instance is looked for. */
const lookMilliseconds = 100;
/** Instances are given this long after their sessions: asking (25 s), SIGTERM (5 s) and the rest. */
const instancesMilliseconds = 40_000;

/**
 * The stop of decisions, "stop": no new sessions, a grace for the live ones, then `SESSION_STOPPED`, instances, database.
 * The first call waits for all of it; a second one ends the grace. With `leave` bots and database go on without a server.
 */
export function shutDown(parts: Parts): () => Promise<void> {
  let done: Promise<void> | null = null;
  const hurry = new AbortController();
  return () => {
    if (done !== null) hurry.abort();
    done ??= close(parts, hurry.signal);
    return done;
  };
}

async function close(parts: Parts, hurry: AbortSignal): Promise<void> {
  if (!parts.leave) {
    parts.drain();
    await endSessions(parts, hurry).catch((error: unknown) => {
      parts.logger.error({ err: error }, 'not all sessions could be ended in order; the next start finds them');
    });
  }
  parts.closing.abort();
  await parts.app.close();
  await parts.reconciler.close();
  await parts.rounds.stop();
  await parts.runtime.close();
  await parts.store.close(parts.leave);
}

async function endSessions(parts: Parts, hurry: AbortSignal): Promise<void> {
  const { db, host } = parts;
  const open = async () => (await listOpenSessions(db, host.region)).filter((session) => session.state !== 'ended');
  // One whose client has not come takes nothing with it.
  for (const session of await open()) {
    if (session.state === 'waiting') await finishSession(parts, session.id, 'SESSION_STOPPED', parts.now(), []);
  }
  await until(async () => (await open()).length === 0, parts.graceSeconds * 1000, hurry);
  for (const session of await open()) await decideEnd(parts, session.id, 'SESSION_STOPPED');
  parts.reconciler.kick();
  await until(
    async () => (await open()).length === 0 && (await isEmpty(parts)),
    instancesMilliseconds,
  );
}

/** The rows count too: an instance that is just being started is not among those that run yet. */
async function isEmpty({ db, host, runtime }: Parts): Promise<boolean> {
  return (await listOpenInstances(db, host.id)).length === 0 && (await runtime.list()).length === 0;
}

async function until(reached: () => Promise<boolean>, milliseconds: number, hurry?: AbortSignal): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!(hurry?.aborted ?? false) && Date.now() < deadline && !(await reached())) await delay(lookMilliseconds);
}
