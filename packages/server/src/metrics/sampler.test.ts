import type { ResourceUsage } from '@bothost/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { computeOpenSessionMetrics, storeFinalMetrics } from './finish.ts';
import { listSamples } from './rows.ts';
import { createSampler } from './sampler.ts';

const start = testNow.getTime() / 1000;

describe('the sampler', () => {
  let rows: TestDatabaseRows;
  let sessionId: string;
  let of: { organizationId: string; agentId: string; deploymentId: string };
  let clock = start;
  let usages = new Map<string, ResourceUsage>();
  const asked: (readonly string[])[] = [];
  const open = () =>
    createSampler({
      db: rows.db,
      now: () => new Date(clock * 1000),
      usage: async (ids) => {
        asked.push(ids);
        return usages;
      },
    });
  const target = () => ({ sessionId, instanceId: 'i' });
  const use = (seconds: number, cpuMicroseconds: number, memoryBytes: number) => {
    clock = start + seconds;
    usages = new Map([['i', { cpuMicroseconds, memoryBytes }]]);
  };

  beforeAll(async () => {
    rows = await createTestDatabaseRows();
    const organizationId = await rows.organization();
    const agentId = await rows.agent(organizationId);
    of = { organizationId, agentId, deploymentId: await rows.deployment(agentId) };
  });
  beforeEach(async () => {
    sessionId = await rows.session(of, { state: 'live' });
    asked.length = 0;
  });
  afterAll(() => rows.close());

  it('returns the CPU use in millicores and the memory in bytes between two readings', async () => {
    const sampler = open();
    use(0, 500_000, 1_000);
    await sampler.sample([target()]);
    use(1, 750_000, 2_000);
    await sampler.sample([target()]);
    use(3, 2_750_000, 1_500);
    await sampler.sample([target()]);
    expect(sampler.take(sessionId)).toEqual([
      [start + 1, 250, 2_000],
      [start + 3, 1_000, 1_500],
    ]);
  });

  it('skips missing instances and reports no negative usage', async () => {
    const sampler = open();
    use(0, 500_000, 1_000);
    await sampler.sample([target()]);
    usages = new Map();
    await sampler.sample([target()]);
    use(2, 400_000, 1_000);
    await sampler.sample([target()]);
    expect(sampler.take(sessionId)).toEqual([[start + 2, 0, 1_000]]);
  });

  it('does not query the runtime if there are no sessions', async () => {
    await open().sample([]);
    expect(asked).toEqual([]);
  });

  it('stores each sample once, and returns only samples that are not yet stored', async () => {
    const sampler = open();
    for (let second = 0; second < 4; second += 1) {
      use(second, second * 100_000, 1_000);
      await sampler.sample([target()]);
    }
    await sampler.store();
    await sampler.store();
    use(4, 400_000, 1_000);
    await sampler.sample([target()]);
    expect((await listSamples(rows.db, sessionId)).map(([t]) => t - start)).toEqual([1, 2, 3]);
    expect(sampler.take(sessionId).map(([t]) => t - start)).toEqual([4]);
    expect(sampler.take(sessionId)).toEqual([]);
  });

  it('stores samples at the next call of store() if storing fails', async () => {
    const sampler = open();
    use(0, 0, 1_000);
    await sampler.sample([target()]);
    use(1, 1_000, 1_000);
    await sampler.sample([target()]);
    await rows.db.schema.alterTable('session_samples').renameTo('away').execute();
    await expect(sampler.store()).rejects.toThrow();
    await rows.db.schema.alterTable('away').renameTo('session_samples').execute();
    await sampler.store();
    expect(await listSamples(rows.db, sessionId)).toHaveLength(1);
  });

  it('continues the metrics of a session after the server was killed', async () => {
    const before = open();
    for (let second = 0; second <= 2; second += 1) {
      use(second, second * 100_000, 1_000);
      await before.sample([target()]);
    }
    await before.store();

    const after = open();
    for (let second = 10; second <= 11; second += 1) {
      use(second, second * 100_000, 5_000);
      await after.sample([target()]);
    }
    await storeFinalMetrics({ db: rows.db }, sessionId, after.take(sessionId));
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
    const sampler = open();
    const removed = { sessionId: '0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11', instanceId: 'i' };
    for (let second = 0; second <= 1; second += 1) {
      use(second, 0, 1_000);
      await sampler.sample([target(), removed]);
    }
    const ended = { state: 'ended', completion_status: '500', ended_at: testNow } as const;
    await rows.db.updateTable('sessions').set(ended).where('id', '=', sessionId).execute();
    await sampler.store();
    expect(await listSamples(rows.db, sessionId)).toEqual([]);
    expect(await computeOpenSessionMetrics({ db: rows.db }, removed.sessionId)).toBeNull();
  });

  it('forgets a session that ends while it is being sampled', async () => {
    const sampler = open();
    use(0, 0, 1_000);
    await sampler.sample([target()]);
    sampler.take(sessionId);
    await sampler.sample([target()]);
    expect(sampler.size()).toBe(1);
    await sampler.sample([]);
    expect(sampler.size()).toBe(0);
  });
});
