import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../support/random.ts';
import type { Life, ServiceProcess } from '../support/service-process.ts';
import type { Observer } from './observer.ts';
import { type Found, type Phase, phases } from './session-phases.ts';

/** A kill of the server, with all phases in which sessions were found at that moment. It counts for `phase` alone. */
export type Kill = { readonly phase: Phase | null; readonly found: readonly Found[]; readonly ready: boolean };

export type Killer = {
  /** Kills the living server when a session is in `aim`, as far as that can be hit. */
  readonly kill: (aim: Phase) => Promise<Kill>;
  /** Kills a server that is on its way up. */
  readonly killAtBoot: () => Promise<Kill>;
  /** Kills the server together with other processes, of which the database may be one. */
  readonly killAll: (pids: readonly number[]) => Promise<void>;
  readonly afterDeath: (life: number) => Promise<ReadonlyMap<string, readonly string[]>>;
  readonly events: EventEmitter;
};

/** How a phase is hit: when to begin to look (ms after a client's event), and how far the looks are apart (ms). */
const hunts: Readonly<
  Record<Phase, { event: 'asking' | 'ending' | null; first: number; step: number; looks: number }>
> = {
  insert: { event: 'asking', first: 5, step: 1, looks: 12 },
  claim: { event: 'asking', first: 6, step: 1, looks: 12 },
  spawn: { event: 'asking', first: 120, step: 15, looks: 8 },
  'hand-over': { event: 'asking', first: 200, step: 6, looks: 20 },
  live: { event: null, first: 600, step: 60, looks: 8 },
  ending: { event: 'ending', first: 20, step: 10, looks: 10 },
};
const huntMilliseconds = 8_000;
/** About what a start takes. */
const bootMilliseconds = 700;

/**
 * The killer stops the server (SIGSTOP) at a random moment, looks past it at the database, the file system and the bots'
 * diary, and either lets it go on or kills it right there (SIGKILL): so each kill happens at a random moment, between two
 * instructions of the server, and it is known exactly in which phase it happened, without a word of the server itself.
 */
export function createKiller(context: {
  readonly service: ServiceProcess;
  readonly observer: Observer;
  readonly random: Random;
  /** Sessions that are there all the time and say nothing of a phase. */
  readonly bystanders: ReadonlySet<string>;
}): Killer {
  const { service, observer, random } = context;
  const events = new EventEmitter().setMaxListeners(0);
  const deaths = new Map<number, ReadonlyMap<string, readonly string[]>>();

  async function kill(aim: Phase): Promise<Kill> {
    const life = service.current();
    const found = await hunt(life, aim);
    return end(life, found, found.some((one) => one.phase === aim) ? aim : rarest(found));
  }

  async function killAtBoot(): Promise<Kill> {
    const life = service.current();
    await delay(random.next() * bootMilliseconds);
    life.freeze();
    const found = await observer.look(context.bystanders);
    return end(life, found, rarest(found));
  }

  async function killAll(pids: readonly number[]): Promise<void> {
    const life = service.current();
    life.freeze();
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    life.signal('SIGKILL');
    await life.dead;
    deaths.set(life.number, new Map());
    events.emit('death');
  }

  /** The server is frozen. */
  async function end(life: Life, found: readonly Found[], phase: Phase | null): Promise<Kill> {
    life.signal('SIGKILL');
    const code = await life.dead;
    if (code !== null) throw new Error(`the server ended by itself, with status ${code}`);
    await observer.settled();
    deaths.set(life.number, await observer.byTag());
    events.emit('death');
    return { phase, found, ready: life.readyAt() !== null };
  }

  /** Resolves with the server frozen. */
  async function hunt(life: Life, aim: Phase): Promise<readonly Found[]> {
    const { event, first, step, looks } = hunts[aim];
    const until = performance.now() + huntMilliseconds;
    for (;;) {
      if (event !== null) await Promise.race([once(events, event), delay(huntMilliseconds)]);
      await pause(random.next() * first);
      for (let look = 1; look <= looks; look += 1) {
        life.freeze();
        const found = await observer.look(context.bystanders);
        const isLate = performance.now() > until;
        if (isLate || found.some(({ phase }) => phase === aim)) return found;
        life.signal('SIGCONT');
        await pause(random.next() * step);
      }
    }
  }

  return {
    kill,
    killAtBoot,
    killAll,
    events,
    afterDeath: async (life) => {
      for (;;) {
        const known = deaths.get(life);
        if (known !== undefined) return known;
        await once(events, 'death');
      }
    },
  };
}

/** Timers have a grain of a millisecond, and some phases do not last longer. */
async function pause(milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  if (milliseconds > 2) await delay(milliseconds);
  else while (performance.now() < until) await new Promise(setImmediate);
}

function rarest(found: readonly Found[]): Phase | null {
  return phases.find((phase) => found.some((one) => one.phase === phase)) ?? null;
}
