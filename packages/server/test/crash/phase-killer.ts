import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../runtime/test/random.ts';
import type { ServerProcess, ServiceProcess } from '../support/service-process.ts';
import type { SessionObserver } from './observer.ts';
import { type ObservedPhase, type SessionPhase, sessionPhases } from './session-phases.ts';

/**
 * One kill of the server. `found` lists the phases of the observed sessions at the time of the kill. The kill is counted for
 * `phase`, which is one of them, or null if there were none. `ready` says whether the server had finished its start.
 */
export type ServerKill = {
  readonly phase: SessionPhase | null;
  readonly found: readonly ObservedPhase[];
  readonly ready: boolean;
};

export type ServerKiller = {
  /** Kills the running server when a session is in phase `aim`. After a time limit, kills the server in any phase. */
  readonly kill: (aim: SessionPhase) => Promise<ServerKill>;
  readonly killAtBoot: () => Promise<ServerKill>;
  /** Kills the server together with other processes, for example the database. */
  readonly killAll: (pids: readonly number[]) => Promise<void>;
  readonly afterExit: (server: number) => Promise<ReadonlyMap<string, readonly string[]>>;
  readonly events: EventEmitter;
};

/**
 * How to search for a session in each phase, in three steps:
 *
 * 1. Wait until a client emits `event`. Skip this step if `event` is null.
 * 2. Wait for a random time of up to `first` milliseconds.
 * 3. Suspend the server, and check whether a session is in the phase. If not, resume the server, and check again after a
 *    random time of up to `step` milliseconds. Stop after `inspections` checks, and start again with step 1.
 */
const searches: Readonly<
  Record<SessionPhase, { event: 'asking' | 'ending' | null; first: number; step: number; inspections: number }>
> = {
  insert: { event: 'asking', first: 5, step: 1, inspections: 12 },
  claim: { event: 'asking', first: 6, step: 1, inspections: 12 },
  spawn: { event: 'asking', first: 120, step: 15, inspections: 8 },
  dispatch: { event: 'asking', first: 200, step: 6, inspections: 20 },
  live: { event: null, first: 600, step: 60, inspections: 8 },
  ending: { event: 'ending', first: 20, step: 10, inspections: 10 },
};
const searchMs = 8_000;
/** Approximate duration of a start of the server in milliseconds. */
const bootMs = 700;

/**
 * Suspends the server (SIGSTOP) at a random time, inspects the database, the file system and the event file of the bots, and
 * then either resumes or kills the server (SIGKILL). So a kill can occur between any two instructions of the server. The
 * inspection shows in which phase each session was at the kill.
 */
export function createServerKiller(context: {
  readonly service: ServiceProcess;
  readonly observer: SessionObserver;
  readonly random: Random;
  /** Ids of long-running sessions, which are ignored when the killer waits for a session to reach a given phase. */
  readonly bystanders: ReadonlySet<string>;
}): ServerKiller {
  const { service, observer, random } = context;
  const events = new EventEmitter().setMaxListeners(0);
  const sessionsAtExit = new Map<number, ReadonlyMap<string, readonly string[]>>();

  async function kill(aim: SessionPhase): Promise<ServerKill> {
    const server = service.current();
    const found = await search(server, aim);
    return end(server, found, found.some((one) => one.phase === aim) ? aim : rarest(found));
  }

  async function killAtBoot(): Promise<ServerKill> {
    const server = service.current();
    await delay(random.next() * bootMs);
    server.freeze();
    const found = await observer.inspect(context.bystanders);
    return end(server, found, rarest(found));
  }

  async function killAll(pids: readonly number[]): Promise<void> {
    const server = service.current();
    server.freeze();
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    server.signal('SIGKILL');
    await server.exited;
    sessionsAtExit.set(server.number, new Map());
    events.emit('exit');
  }

  async function end(
    server: ServerProcess,
    found: readonly ObservedPhase[],
    phase: SessionPhase | null,
  ): Promise<ServerKill> {
    server.signal('SIGKILL');
    const code = await server.exited;
    if (code !== null) throw new Error(`the server exited by itself with status ${code}`);
    await observer.settled();
    sessionsAtExit.set(server.number, await observer.byTag());
    events.emit('exit');
    return { phase, found, ready: server.readyAt() !== null };
  }

  async function search(server: ServerProcess, aim: SessionPhase): Promise<readonly ObservedPhase[]> {
    const { event, first, step, inspections } = searches[aim];
    const until = performance.now() + searchMs;
    for (;;) {
      if (event !== null) await Promise.race([once(events, event), delay(searchMs)]);
      await pause(random.next() * first);
      for (let inspection = 1; inspection <= inspections; inspection += 1) {
        server.freeze();
        const found = await observer.inspect(context.bystanders);
        const isLate = performance.now() > until;
        if (isLate || found.some(({ phase }) => phase === aim)) return found;
        server.signal('SIGCONT');
        await pause(random.next() * step);
      }
    }
  }

  return {
    kill,
    killAtBoot,
    killAll,
    events,
    afterExit: async (server) => {
      for (;;) {
        const known = sessionsAtExit.get(server);
        if (known !== undefined) return known;
        await once(events, 'exit');
      }
    },
  };
}

/** Waits with a precision of less than the timer resolution of 1 ms, because some phases of a session last less than 1 ms. */
async function pause(milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  if (milliseconds > 2) await delay(milliseconds);
  else while (performance.now() < until) await new Promise(setImmediate);
}

function rarest(found: readonly ObservedPhase[]): SessionPhase | null {
  return sessionPhases.find((phase) => found.some((one) => one.phase === phase)) ?? null;
}
