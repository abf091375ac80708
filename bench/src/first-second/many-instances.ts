import { formatMegabytes, formatMilliseconds } from '../figure.ts';
import { mean, median } from '../quantile.ts';
import { drainPool, listOpenInstances, readInstanceMemoryBytes, scaleAgent } from './instances.ts';
import { forked, spawned, type VoiceBenchContext } from './voice-bench.ts';

type Measured = {
  /** Milliseconds from the request for all instances until the last instance is ready. */
  readonly allMs: number;
  /** Median start time of the instances, in milliseconds. */
  readonly bootMs: number;
  readonly bytes: number;
};

/**
 * Compares the memory use and start time of many instances in two cases: forked from a process that has already imported the
 * bot, and spawned as new Python processes.
 */
export async function measureManyInstances(bench: VoiceBenchContext, count: number): Promise<void> {
  await drainPool(bench.service, forked);
  const ours = await startAll(bench, forked, count);
  const reference = await startAll(bench, spawned, count);
  const figure = (what: string, value: (of: Measured) => number, format: (value: number) => string) =>
    bench.report({
      what,
      ours: format(value(ours)),
      reference: `${format(value(reference))} spawned`,
      ratio: value(ours) / value(reference),
      limit: null,
    });
  figure(`${count} instances of one deployment: memory of each`, ({ bytes }) => bytes, formatMegabytes);
  figure(`${count} instances started at once: until all are ready`, ({ allMs }) => allMs, formatMilliseconds);
  figure('the start of one of them, median', ({ bootMs }) => bootMs, formatMilliseconds);
}

async function startAll({ service, log }: VoiceBenchContext, agent: string, count: number): Promise<Measured> {
  log(`${count} instances, ${agent}`);
  const begin = performance.now();
  await scaleAgent(service, agent, count);
  const allMs = performance.now() - begin;
  const instances = (await listOpenInstances(service, agent)).filter(({ sessionId }) => sessionId === null);
  const bytes = mean(await Promise.all(instances.map(({ id }) => readInstanceMemoryBytes(service, id))));
  return { allMs, bootMs: median(instances.map(({ bootMs }) => bootMs)), bytes };
}
