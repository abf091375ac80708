import { setTimeout as delay } from 'node:timers/promises';
import type { BenchmarkedService } from '../benchmarked-service.ts';
import type { BenchmarkOptions } from '../figure.ts';
import { benchmarkAbortController } from '../interruption.ts';
import { waitUntil } from '../wait-until.ts';
import type { Cluster } from './cluster.ts';

/** The inputs of all measurements of the Kubernetes benchmark. `image` is that of the parrot. */
export type KubernetesBenchContext = BenchmarkOptions & {
  readonly service: BenchmarkedService;
  readonly cluster: Cluster;
  readonly image: string;
};

/** Calls a function at fixed times, whether or not former calls have ended. Returns all results. */
export async function callAtRate<T>(
  count: number,
  perSecond: number,
  call: (index: number) => Promise<T>,
): Promise<readonly T[]> {
  const begin = performance.now();
  const calls = Array.from({ length: count }, async (_, index) => {
    await delay(begin + (index * 1000) / perSecond - performance.now());
    benchmarkAbortController.signal.throwIfAborted();
    return call(index);
  });
  return Promise.all(calls);
}

/** Returns how many sessions had to wait for an instance, as soon as that is recorded of all. */
export async function countColdStarts(
  { database }: BenchmarkedService,
  sessions: readonly { readonly sessionId: string }[],
): Promise<number> {
  const text = `select count(*) filter (where cold_start)::int as cold, count(*) filter (where cold_start is null)::int as unknown
    from sessions where id = any($1)`;
  const ids = sessions.map(({ sessionId }) => sessionId);
  return waitUntil('the records of the starts', async () => {
    const { cold, unknown } = (await database.query(text, [ids])).rows[0];
    return unknown === 0 ? cold : undefined;
  });
}
