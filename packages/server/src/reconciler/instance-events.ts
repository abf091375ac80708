import type { Logger } from 'pino';
import { findInstance, markEnded } from '../instances/lifecycle.ts';
import type { InstanceEvent, Runtime } from '../runtime/runtime.ts';
import { recordEvent, stateOfSession } from '../sessions/progress.ts';
import type { Database } from '../store/tables.ts';
import type { Attendance } from './attendance.ts';
import { completionOfExit } from './completion.ts';

type Context = {
  readonly db: Database;
  readonly now: () => Date;
  readonly logger: Logger;
  readonly runtime: Pick<Runtime, 'watch' | 'forget'>;
  readonly attendance: Attendance;
  readonly signal: AbortSignal;
  readonly persist: <T>(write: () => Promise<T>) => Promise<T>;
  readonly finish: (sessionId: string, status: string, at?: Date) => Promise<void>;
  readonly kick: () => void;
};

/** A bot's own answer, which may still be on its way when its exit is told, says more than the exit. */
const lastWordMilliseconds = 3_000;

/** Records what the runtime tells of instances, until the signal. What happened while no server watched comes first. */
export async function watchInstances(context: Context): Promise<void> {
  for await (const event of context.runtime.watch(context.signal)) {
    handle(context, event).catch((error: unknown) => {
      if (!context.signal.aborted) context.logger.error({ err: error, event: event.kind }, 'an event was not recorded');
    });
  }
}

async function handle(context: Context, event: InstanceEvent): Promise<void> {
  const { db, persist } = context;
  const instance = await persist(() => findInstance(db, event.instanceId));
  const sessionId = instance?.session_id ?? null;
  if (event.kind === 'noticed') {
    context.logger.warn({ instanceId: event.instanceId, sessionId, notice: event.notice }, event.detail);
    if (sessionId !== null) {
      const code = `INSTANCE_${event.notice.toUpperCase().replaceAll('-', '_')}`;
      await persist(() => recordEvent(context, sessionId, code, { detail: event.detail }));
    }
    return;
  }
  const { code, signal, outOfMemory, tail } = event.exit;
  context.logger.info({ instanceId: event.instanceId, sessionId, code, signal, outOfMemory }, 'an instance ended');
  if (sessionId !== null) {
    const cause = { code, signal, outOfMemory, ...(code === 0 ? {} : { tail }) };
    await persist(() => recordEvent(context, sessionId, 'INSTANCE_EXITED', cause));
    await context.attendance.released(sessionId, AbortSignal.timeout(lastWordMilliseconds));
    await context.finish(sessionId, await statusByExit(context, sessionId, event.exit), event.at);
  }
  await persist(() => markEnded(context, event.instanceId));
  await context.runtime.forget(event.instanceId);
  context.kick();
}

/** For a session that nobody could hear the end of (bot contract 2.8, last paragraph). */
async function statusByExit(context: Context, sessionId: string, exit: { code: number | null }): Promise<string> {
  const session = await context.persist(() => stateOfSession(context.db, sessionId));
  if (session?.bot_started_at == null) return 'HTTP_ERROR';
  return session.transport === 'websocket' ? 'WS_CONNECTION_CLOSED' : completionOfExit(exit);
}
