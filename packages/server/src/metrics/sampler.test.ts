import type { ResourceUsage } from '@bothost/runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import { testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { computeOpenSessionMetrics, storeFinalMetrics } from './finish.ts';
import { listSamples } from './rows.ts';
import { createSampler } from './sampler.ts';

const start = testNow.getTime() / 1000;
const timeAfter = (seconds: number) => new Date((start + seconds) * 1000);

let sessionId: string;
let usages = new Map<string, ResourceUsage>();
const asked: (readonly string[])[] = [];
const open = () =>
  createSampler({
    db: rows.db,
    usage: async (ids) => {
      asked.push(ids);
      return usages;
    },
  });
/** Creates a sampler with the first reading of the session. */
const begin = async (cpuMicroseconds: number, memoryBytes: number) => {
  const sampler = open();
  use(0, cpuMicroseconds, memoryBytes);
  sampler.begin(sessionId, 'i');
  await sampler.sample();
  return sampler;
};
const use = (seconds: number, cpuMicroseconds: number, memoryBytes: number) => {
  usages = new Map([['i', { at: timeAfter(seconds), cpuMicroseconds, memoryBytes }]]);
};

const rows = await useTestRows();
const of = await rows.deployedAgent();
beforeEach(async () => {
  sessionId = await rows.session(of, { state: 'live' });
  asked.length = 0;
});

describe('the sampler', () => {
  it('returns the CPU use in millicores and the memory in bytes between two readings', async () => {
    const sampler = await begin(500_000, 1_000);
    use(1, 750_000, 2_000);
    await sampler.sample();
    use(3, 2_750_000, 1_500);
    await sampler.sample();
    expect(await sampler.finish(sessionId)).toEqual([
      [start + 1, 250, 2_000],
      [start + 3, 1_000, 1_500],
    ]);
  });

  it('skips missing instances and reports no negative usage', async () => {
    const sampler = await begin(500_000, 1_000);
    usages = new Map();
    await sampler.sample();
    use(2, 400_000, 1_000);
    await sampler.sample();
    expect(await sampler.finish(sessionId)).toEqual([[start + 2, 0, 1_000]]);
  });

  it('does not query the runtime if there are no sessions', async () => {
    await open().sample();
    expect(asked).toEqual([]);
  });

  it('stores each sample once, and returns only samples that are not yet stored', async () => {
    const sampler = await begin(0, 1_000);
    for (let second = 1; second < 4; second += 1) {
      use(second, second * 100_000, 1_000);
      await sampler.sample();
    }
    await sampler.store();
    await sampler.store();
    use(4, 400_000, 1_000);
    await sampler.sample();
    expect((await listSamples(rows.db, sessionId)).map(([t]) => t - start)).toEqual([1, 2, 3]);
    expect((await sampler.finish(sessionId)).map(([t]) => t - start)).toEqual([4]);
  });

  it('stores samples at the next call of store() if storing fails', async () => {
    const sampler = await begin(0, 1_000);
    use(1, 1_000, 1_000);
    await sampler.sample();
    await rows.db.schema.alterTable('session_samples').renameTo('away').execute();
    await expect(sampler.store()).rejects.toThrow();
    await rows.db.schema.alterTable('away').renameTo('session_samples').execute();
    await sampler.store();
    expect(await listSamples(rows.db, sessionId)).toHaveLength(1);
  });

  it('continues the metrics of a session after the server was killed', async () => {
    const before = await begin(0, 1_000);
    for (let second = 1; second <= 2; second += 1) {
      use(second, second * 100_000, 1_000);
      await before.sample();
    }
    await before.store();

    const after = open();
    use(10, 1_000_000, 5_000);
    after.begin(sessionId, 'i');
    await after.sample();
    use(11, 1_100_000, 5_000);
    await after.sample();
    await storeFinalMetrics({ db: rows.db }, sessionId, await after.finish(sessionId));
    const final = await rows.db
      .selectFrom('session_metrics')
      .select(['sample_count', 'cpu_p50', 'memory_p99', 'timeseries'])
      .where('session_id', '=', sessionId)
      .executeTakeFirst();
    expect(final).toEqual({
      sample_count: 3,
      cpu_p50: 100,
      memory_p99: 5_000,
      timeseries: [
        { t: start + 1, c: 100, m: 1_000 },
        { t: start + 11, c: 100, m: 5_000 },
      ],
    });
  });

  it('stores nothing for ended or removed sessions', async () => {
    const removedId = '0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11';
    const sampler = await begin(0, 1_000);
    sampler.begin(removedId, 'i');
    use(1, 0, 1_000);
    await sampler.sample();
    const ended = { state: 'ended', completion_status: '500', ended_at: testNow } as const;
    await rows.update('sessions', sessionId, ended);
    await sampler.store();
    expect(await listSamples(rows.db, sessionId)).toEqual([]);
    expect(await computeOpenSessionMetrics({ db: rows.db }, removedId)).toBeNull();
  });

  it('returns one sample for a session that ends before the first periodic sample', async () => {
    const sampler = await begin(500_000, 2_000);
    use(0.02, 512_000, 1_500);
    expect(await sampler.finish(sessionId)).toEqual([[start, 600, 2_000]]);
  });

  it('returns one sample for a session that ends at the time of its dispatch, or when the clock was set back', async () => {
    const atOnce = await begin(500_000, 2_000);
    expect(await atOnce.finish(sessionId)).toEqual([[start, 0, 2_000]]);
    const setBack = await begin(500_000, 2_000);
    use(-5, 500_000, 2_000);
    expect(await setBack.finish(sessionId)).toEqual([[start - 5, 0, 2_000]]);
  });

  it('keeps the last memory of an instance that has exited, and does not sample it again before the session ends', async () => {
    const sampler = await begin(500_000, 2_000);
    usages = new Map([['i', { at: timeAfter(1), cpuMicroseconds: 600_000, memoryBytes: 0, hasEnded: true }]]);
    await sampler.sample();
    expect(await sampler.finish(sessionId)).toEqual([[start + 1, 100, 2_000]]);
  });

  it.each([
    [0.05, 1],
    [0.5, 2],
  ])('takes a last sample if the time since the last sample is not too short: %d seconds', async (seconds, count) => {
    const sampler = await begin(0, 1_000);
    use(1, 100_000, 1_000);
    await sampler.sample();
    use(1 + seconds, 200_000, 1_000);
    expect(await sampler.finish(sessionId)).toHaveLength(count);
  });

  it('returns the same samples to all who end a session, and forgets a session only when asked to', async () => {
    const sampler = await begin(0, 1_000);
    use(1, 100_000, 1_000);
    const ends = await Promise.all([sampler.finish(sessionId), sampler.finish(sessionId)]);
    expect(ends).toEqual([[[start + 1, 100, 1_000]], [[start + 1, 100, 1_000]]]);
    await sampler.sample();
    expect(await sampler.finish(sessionId)).toEqual(ends[0]);
    sampler.forget(sessionId);
    expect(await sampler.finish(sessionId)).toEqual([]);
  });

  it('finishes a session even if its usage cannot be read', async () => {
    const failing = createSampler({
      db: rows.db,
      usage: () => Promise.reject(new Error('no /proc')),
    });
    failing.begin(sessionId, 'i');
    await expect(failing.sample()).rejects.toThrow('no /proc');
    expect(await failing.finish(sessionId)).toEqual([]);
  });
});
