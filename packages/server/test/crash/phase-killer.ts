import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createKillTally, type KillTally } from '../../../runtime/test/kill-tally.ts';
import type { Random } from '../../../runtime/test/random.ts';
import type { CrashService } from './crash-service.ts';

/**
 * How to search for the moment when the service is in a phase, in three steps:
 *
 * 1. Wait until a client emits `event`. Skip this step if `event` is null.
 * 2. Wait for a random time of up to `firstMs` milliseconds.
 * 3. Suspend the server, and check whether the service is in the phase. If not, resume the server, and check again after a
 *    random time of up to `stepMs` milliseconds. Stop after `inspections` checks, and start again with step 1.
 */
export type PhaseSearch = {
  readonly event: string | null;
  readonly firstMs: number;
  readonly stepMs: number;
  readonly inspections: number;
};

export type PhaseKiller<Phase extends string> = {
  /** The kills by phase. A kill that hit no phase is not counted. */
  readonly tally: KillTally<Phase>;
  /** Clients emit the events of the searches here. */
  readonly events: EventEmitter;
  /**
   * Kills the server in phase `aim`. Without `scenario`, kills the server after a time limit in any phase. With `scenario`, does
   * not kill the server once the scenario is over. Returns whether it killed the server.
   */
  readonly kill: (aim: Phase, scenario?: Promise<unknown>) => Promise<boolean>;
  /** Kills the server at a random moment of its start. */
  readonly killAtStart: () => Promise<void>;
};

const searchMs = 8_000;
/** Approximate duration of a start of the server in milliseconds. */
const startMs = 700;

/**
 * Suspends the server (SIGSTOP) at a random time, calls `findPhases`, which inspects the database and the file system, and then
 * either resumes or kills the server (SIGKILL). So a kill can occur between any two instructions of the server, and its phase is
 * known. A kill that hits several phases counts for the first of them in the order of `searches`.
 */
export function createPhaseKiller<Phase extends string>(
  service: CrashService,
  random: Random,
  searches: Readonly<Record<Phase, PhaseSearch>>,
  findPhases: () => Promise<ReadonlySet<Phase>>,
): PhaseKiller<Phase> {
  const events = new EventEmitter().setMaxListeners(0);
  const phases = Object.keys(searches) as [Phase, ...Phase[]];
  const tally = createKillTally(...phases);

  async function killIn(phase: Phase | undefined): Promise<void> {
    await service.kill();
    await service.database().settled();
    if (phase !== undefined) tally.add(phase);
  }

  async function killNow(): Promise<void> {
    service.current().freeze();
    const found = await findPhases();
    await killIn(phases.find((phase) => found.has(phase)));
  }

  async function kill(aim: Phase, scenario?: Promise<unknown>): Promise<boolean> {
    const { event, firstMs, stepMs, inspections } = searches[aim];
    const server = service.current();
    let isOver = false;
    const over = (scenario ?? delay(searchMs)).then(() => {
      isOver = true;
    });
    while (!isOver) {
      if (event !== null) await Promise.race([once(events, event), over]);
      await pause(random.next() * firstMs);
      for (let inspection = 1; inspection <= inspections && !isOver; inspection += 1) {
        server.freeze();
        if ((await findPhases()).has(aim)) {
          await killIn(aim);
          return true;
        }
        server.signal('SIGCONT');
        await pause(random.next() * stepMs);
      }
    }
    if (scenario === undefined) await killNow();
    return scenario === undefined;
  }

  return {
    tally,
    events,
    kill,
    killAtStart: async () => {
      await delay(random.next() * startMs);
      await killNow();
    },
  };
}

/** Waits with a precision of less than the timer resolution of 1 ms, because some phases last less than 1 ms. */
async function pause(milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  if (milliseconds > 2) await delay(milliseconds);
  else while (performance.now() < until) await new Promise(setImmediate);
}
