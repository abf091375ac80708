import type { ResourceUsage } from '@bothost/runtime';
import type { Database } from '../store/tables.ts';
import { insertSamples } from './rows.ts';
import type { Sample } from './series.ts';

export type Sampler = {
  /** Takes a session's first reading, at its dispatch or adoption. Does nothing if it is sampled already. */
  readonly begin: (sessionId: string, instanceId: string) => void;
  /** Takes a sample of the CPU and memory use of each session. Call this at the interval of the runtime's `sampleSeconds`. */
  readonly sample: () => Promise<void>;
  /** Stores the samples taken since the last call. Call this every few seconds; a kill loses at most the samples since then. */
  readonly store: () => Promise<void>;
  /** Takes the last sample of a session. Returns the samples that are not stored. Returns the same in each call until `forget`. */
  readonly finish: (sessionId: string) => Promise<readonly Sample[]>;
  /** Call this when the samples of a session are stored with its end. */
  readonly forget: (sessionId: string) => void;
};

type Reading = Pick<ResourceUsage, 'at' | 'cpuMicroseconds' | 'memoryBytes'>;
type State = {
  readonly instanceId: string;
  /** The last reading. Null if the runtime has not yet returned one. */
  reading: Reading | null;
  hasSamples: boolean;
  readonly unsaved: Sample[];
  finished: Promise<readonly Sample[]> | null;
};

/** Minimum length of a session's last sample, because a shorter one would count as much as that of a whole second. */
const shortestLastSampleMs = 100;

/** Turns cumulative usage into samples. The first reading is a baseline, so time without a server has no samples. */
export function createSampler(context: {
  db: Database;
  usage: (instanceIds: readonly string[]) => Promise<ReadonlyMap<string, ResourceUsage>>;
}): Sampler {
  const states = new Map<string, State>();

  async function read(sampled: readonly State[], isLast: boolean): Promise<void> {
    const usages = await context.usage(sampled.map(({ instanceId }) => instanceId));
    for (const state of sampled) {
      const usage = usages.get(state.instanceId);
      // An ended instance gets its last sample from `finish`.
      if (usage === undefined || (usage.hasEnded === true && !isLast)) continue;
      const before = state.reading;
      if (before === null) {
        state.reading = usage;
        continue;
      }
      const elapsedMs = usage.at.getTime() - before.at.getTime();
      const isDue = isLast ? !state.hasSamples || elapsedMs >= shortestLastSampleMs : elapsedMs > 0;
      // An ended instance uses no memory, so its last sample keeps the memory of the reading before.
      const memoryBytes = isLast ? Math.max(before.memoryBytes, usage.memoryBytes) : usage.memoryBytes;
      if (isDue) {
        state.unsaved.push(sampleBetween(before, { ...usage, memoryBytes }));
        state.hasSamples = true;
      }
      state.reading = usage;
    }
  }

  async function finish(state: State): Promise<readonly Sample[]> {
    // A session must end even if its usage cannot be read. The next call of `sample` reports why.
    await read([state], true).catch(() => undefined);
    return [...state.unsaved];
  }

  return {
    begin: (sessionId, instanceId) => {
      if (states.has(sessionId)) return;
      const state = { instanceId, reading: null, hasSamples: false, unsaved: [], finished: null };
      states.set(sessionId, state);
      // If this fails, the next call of `sample` takes the first reading.
      read([state], false).catch(() => undefined);
    },
    sample: async () => {
      const sampled = [...states.values()].filter(({ finished }) => finished === null);
      if (sampled.length > 0) await read(sampled, false);
    },
    store: async () => {
      const batches = [...states].flatMap(([sessionId, { unsaved }]) =>
        unsaved.length === 0 ? [] : [{ sessionId, samples: [...unsaved] }],
      );
      await insertSamples(context.db, batches);
      for (const { sessionId, samples } of batches) states.get(sessionId)?.unsaved.splice(0, samples.length);
    },
    finish: async (sessionId) => {
      const state = states.get(sessionId);
      if (state === undefined) return [];
      state.finished ??= finish(state);
      return state.finished;
    },
    forget: (sessionId) => void states.delete(sessionId),
  };
}

function sampleBetween(before: Reading, after: Reading): Sample {
  // Microseconds of CPU time per millisecond are millicores. The clock may have been set back.
  const elapsedMs = Math.max(1, after.at.getTime() - before.at.getTime());
  const millicores = Math.max(0, Math.round((after.cpuMicroseconds - before.cpuMicroseconds) / elapsedMs));
  return [Math.floor(after.at.getTime() / 1000), millicores, Math.round(after.memoryBytes)];
}
