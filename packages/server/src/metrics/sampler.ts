import type { ResourceUsage } from '@bothost/runtime';
import type { Database } from '../store/tables.ts';
import { insertSamples } from './rows.ts';
import type { Sample } from './series.ts';

export type SampledSession = { readonly sessionId: string; readonly instanceId: string };

export type Sampler = {
  /** Takes a sample of the CPU and memory use of each session. Call this every second. */
  readonly sample: (targets: readonly SampledSession[]) => Promise<void>;
  /** Stores the samples taken since the last call. Call this every few seconds; a kill loses at most the samples since then. */
  readonly store: () => Promise<void>;
  readonly take: (sessionId: string) => readonly Sample[];
  readonly size: () => number;
};

type State = { readonly at: number; readonly cpuMicroseconds: number; readonly unsaved: Sample[] };

/**
 * Creates a sampler, which turns cumulative usage into samples. Its first reading of a session is only a baseline, so the time
 * during which the server was down has no samples.
 */
export function createSampler(context: {
  db: Database;
  now: () => Date;
  usage: (instanceIds: readonly string[]) => Promise<ReadonlyMap<string, ResourceUsage>>;
}): Sampler {
  const states = new Map<string, State>();

  async function sample(targets: readonly SampledSession[]): Promise<void> {
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

  /** Removes a session that ended while it was sampled. */
  function forgetOthers(targets: readonly SampledSession[]) {
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

function sampleBetween(before: State, at: number, usage: ResourceUsage): Sample {
  // Microseconds of CPU time per millisecond are millicores.
  const millicores = Math.max(0, Math.round((usage.cpuMicroseconds - before.cpuMicroseconds) / (at - before.at)));
  return [Math.floor(at / 1000), millicores, Math.round(usage.memoryBytes)];
}
