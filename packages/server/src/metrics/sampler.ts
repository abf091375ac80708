import type { Usage } from '@bothost/runtime';
import type { Database } from '../store/tables.ts';
import { insertSamples } from './rows.ts';
import type { Sample } from './series.ts';

/** A live session and the instance that runs it. */
export type Sampled = { readonly sessionId: string; readonly instanceId: string };

export type Sampler = {
  /** Takes one sample of each; call it every second. */
  readonly sample: (targets: readonly Sampled[]) => Promise<void>;
  /** Stores what was taken since the last time; call it every few seconds. What a kill loses is at most that. */
  readonly store: () => Promise<void>;
  /** Ends a session's sampling and returns what was not stored yet. */
  readonly take: (sessionId: string) => readonly Sample[];
  /** How many sessions are being sampled. */
  readonly size: () => number;
};

type State = { readonly at: number; readonly cpuMicroseconds: number; readonly unsaved: Sample[] };

/**
 * Turns the runtime's cumulative usage into samples. The first reading of a session gives no sample, only the mark that
 * the next one is measured from; so it is again after a restart of the server, whose time away has no samples.
 */
export function createSampler(context: {
  db: Database;
  now: () => Date;
  usage: (instanceIds: readonly string[]) => Promise<ReadonlyMap<string, Usage>>;
}): Sampler {
  const states = new Map<string, State>();

  async function sample(targets: readonly Sampled[]): Promise<void> {
    forgetOthers(targets);
    if (targets.length === 0) return;
    const usages = await context.usage(targets.map((target) => target.instanceId));
    const at = context.now().getTime();
    for (const { sessionId, instanceId } of targets) {
      const usage = usages.get(instanceId);
      if (usage === undefined) continue;
      const before = states.get(sessionId);
      const unsaved = before?.unsaved ?? [];
      if (before !== undefined && at > before.at) unsaved.push(sampleBetween(before, at, usage));
      states.set(sessionId, { at, cpuMicroseconds: usage.cpuMicroseconds, unsaved });
    }
  }

  /** A session that ended while it was being sampled is noted once more after its end. */
  function forgetOthers(targets: readonly Sampled[]) {
    const wanted = new Set(targets.map((target) => target.sessionId));
    for (const [sessionId, { unsaved }] of states) {
      if (unsaved.length === 0 && !wanted.has(sessionId)) states.delete(sessionId);
    }
  }

  async function store(): Promise<void> {
    const batches = [...states].flatMap(([sessionId, { unsaved }]) =>
      unsaved.length === 0 ? [] : [{ sessionId, samples: [...unsaved] }],
    );
    await insertSamples(context.db, batches);
    for (const { sessionId, samples } of batches) states.get(sessionId)?.unsaved.splice(0, samples.length);
  }

  function take(sessionId: string): readonly Sample[] {
    const unsaved = states.get(sessionId)?.unsaved ?? [];
    states.delete(sessionId);
    return unsaved;
  }

  return { sample, store, take, size: () => states.size };
}

function sampleBetween(before: State, at: number, usage: Usage): Sample {
  // Microseconds of CPU per millisecond of time are thousandths of a core.
  const millicores = Math.max(0, Math.round((usage.cpuMicroseconds - before.cpuMicroseconds) / (at - before.at)));
  return [Math.floor(at / 1000), millicores, Math.round(usage.memoryBytes)];
}
