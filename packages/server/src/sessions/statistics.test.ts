import { beforeEach, describe, expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { createStatisticsRollUp } from './roll-up-statistics.ts';
import { getStatistics } from './statistics.ts';

const rows = await useTestRows();
const context = { db: rows.db, now: () => testNow };
const hostId = await rows.host();
const hour = 3_600;
const day = 24 * hour;

/** Creates an agent whose deployment has served for 30 days, and a function that inserts one of its ended sessions. */
async function createAgent(organizationId: string, name: string) {
  const agentId = await rows.agent(organizationId, { name });
  const deploymentId = await rows.deployment(agentId, {
    max_agents: 10,
    created_at: secondsAgo(30 * day),
    activated_at: secondsAgo(30 * day),
  });
  const of = { organizationId, agentId, deploymentId };
  const session = (age: number, fields: { startMs?: number; status?: string; seconds?: number } = {}) => {
    const { startMs = 100, status = 'HTTP_COMPLETED', seconds = 60 } = fields;
    return rows.session(of, {
      created_at: secondsAgo(age),
      requested_at: secondsAgo(age),
      bot_started_at: secondsAgo(age - startMs / 1_000),
      state: 'ended',
      completion_status: status as 'HTTP_COMPLETED',
      ended_at: secondsAgo(age - seconds),
    });
  };
  return { of, session };
}

// Only sessions of the last day are added to intervals that were rolled up before.
beforeEach(async () => void (await rows.db.deleteFrom('session_statistics').execute()));

describe('getStatistics', () => {
  it('counts sessions, failures, start times and sessions at the same time per minute of the last hour', async () => {
    const organizationId = await rows.organization();
    const { session } = await createAgent(organizationId, 'parrot');
    await session(600, { startMs: 100, seconds: 90 });
    await session(590, { startMs: 100, seconds: 90 });
    await session(580, { startMs: 4_000, status: 'HTTP_ERROR', seconds: 10 });
    await session(2 * hour);
    const { points, total, stepSeconds } = await getStatistics(context, { organizationId }, { period: 'hour' });
    expect(stepSeconds).toBe(60);
    expect(points).toHaveLength(60);
    const used = points.filter(({ openAtMost }) => openAtMost > 0);
    expect(used).toMatchObject([
      { at: secondsAgo(600).toISOString(), sessions: 3, failed: 1, openAtMost: 3, limit: 10 },
      { at: secondsAgo(540).toISOString(), sessions: 0, failed: 0, openAtMost: 2, startP50Ms: null },
    ]);
    expect(total).toMatchObject({ sessions: 3, failed: 1, responseP50Ms: null });
    expect(Math.abs((total.startP50Ms ?? 0) - 100)).toBeLessThan(8);
    expect(Math.abs((total.startP95Ms ?? 0) - 4_000)).toBeLessThan(320);
  });

  it('counts sessions at the same time over all deployments of an agent, whose peaks are at different times', async () => {
    const organizationId = await rows.organization();
    const { of, session } = await createAgent(organizationId, 'parrot');
    const replacement = { ...of, deploymentId: await rows.deployment(of.agentId, { activated_at: secondsAgo(585) }) };
    for (const age of [600, 599]) await session(age, { seconds: 10 });
    for (const age of [580, 579]) {
      await rows.session(replacement, {
        created_at: secondsAgo(age),
        requested_at: secondsAgo(age),
        state: 'ended',
        completion_status: 'HTTP_COMPLETED',
        ended_at: secondsAgo(age - 10),
      });
    }
    await session(585, { seconds: 10 });
    const { points, deployments } = await getStatistics(context, { organizationId }, { period: 'hour' });
    expect(points.filter(({ openAtMost }) => openAtMost > 0)).toMatchObject([{ openAtMost: 3 }]);
    expect(deployments.map(({ openAtMost }) => openAtMost)).toEqual([1, 2]);
  });

  it.each(['day', 'week'] as const)(
    'returns the same figures of the last %s before and after a roll-up',
    async (period) => {
      const organizationId = await rows.organization();
      const { of, session } = await createAgent(organizationId, 'parrot');
      for (const age of [60, hour, 5 * hour, 5 * hour + 10, 23 * hour, 3 * day, 6.9 * day]) await session(age);
      const response = await session(20 * hour, { status: 'SERVICE_INTERRUPTED', startMs: 900 });
      await rows.db
        .insertInto('session_conversations')
        .values({
          session_id: response,
          host_id: hostId,
          state: 'complete',
          response_p50_ms: 1_500,
          created_at: secondsAgo(20 * hour),
        } as never)
        .execute();
      await rows.session(of, { state: 'live', created_at: secondsAgo(7_000), requested_at: secondsAgo(7_000) });
      const before = await getStatistics(context, { organizationId }, { period });
      const rollUp = createStatisticsRollUp(context);
      await rollUp();
      const { count } = await rows.db
        .selectFrom('session_statistics')
        .select((column) => column.fn.countAll<string>().as('count'))
        .where('organization_id', '=', organizationId)
        .executeTakeFirstOrThrow();
      expect(Number(count)).toBeGreaterThan(6);
      expect(await getStatistics(context, { organizationId }, { period })).toEqual(before);
      expect(before.total).toMatchObject({ sessions: period === 'day' ? 7 : 9, failed: 1 });
      expect(Math.abs((before.total.responseP50Ms ?? 0) - 1_500)).toBeLessThan(120);
      await rollUp();
      expect(await getStatistics(context, { organizationId }, { period })).toEqual(before);
    },
  );

  it('counts a session that ends after its interval was rolled up as failed after the next roll-up', async () => {
    const organizationId = await rows.organization();
    const { of } = await createAgent(organizationId, 'parrot');
    const id = await rows.session(of, {
      state: 'live',
      created_at: secondsAgo(3 * hour),
      requested_at: secondsAgo(3 * hour),
    });
    const rollUp = createStatisticsRollUp(context);
    await rollUp();
    await rows.update('sessions', id, { state: 'ended', completion_status: 'HTTP_ERROR', ended_at: testNow });
    await rollUp();
    const { total } = await getStatistics(context, { organizationId }, { period: 'day' });
    expect(total).toMatchObject({ sessions: 1, failed: 1 });
  });

  it('keeps the intervals whose sessions have not changed since the last roll-up of the same server', async () => {
    const organizationId = await rows.organization();
    const { session } = await createAgent(organizationId, 'parrot');
    await session(5 * hour);
    const rollUp = createStatisticsRollUp(context);
    await rollUp();
    await rows.db
      .updateTable('session_statistics')
      .set({ sessions: 42 })
      .where('organization_id', '=', organizationId)
      .execute();
    const count = async () => (await getStatistics(context, { organizationId }, { period: 'day' })).total.sessions;
    await rollUp();
    expect(await count()).toBe(42);
    await createStatisticsRollUp(context)();
    expect(await count()).toBe(1);
  });

  it('returns the figures of one agent, and of each of its deployments', async () => {
    const organizationId = await rows.organization();
    const parrot = await createAgent(organizationId, 'parrot');
    const crow = await createAgent(organizationId, 'crow');
    await parrot.session(300);
    await crow.session(300);
    const failed = await rows.deployment(crow.of.agentId, {
      state: 'failed',
      state_at: secondsAgo(100),
      max_agents: 99,
    });
    await rows.update('agents', crow.of.agentId, { desired_deployment_id: crow.of.deploymentId });
    const found = await getStatistics(context, { organizationId }, { period: 'hour', agent: 'crow' });
    expect(found.total).toMatchObject({ sessions: 1 });
    expect(found.points.at(-1)).toMatchObject({ limit: 10 });
    expect(found.deployments).toMatchObject([
      { deploymentId: crow.of.deploymentId, agentName: 'crow', state: 'ready', sessions: 1 },
      { deploymentId: failed, state: 'failed', at: secondsAgo(100).toISOString(), sessions: 0 },
    ]);
  });

  it('returns the figures of a deleted agent apart from those of the agent that has its name now', async () => {
    const organizationId = await rows.organization();
    const deleted = await createAgent(organizationId, 'parrot');
    await deleted.session(300);
    await rows.update('agents', deleted.of.agentId, { deleted_at: secondsAgo(200) });
    const { of, session } = await createAgent(organizationId, 'parrot');
    for (const age of [100, 90]) await session(age);
    const { deployments } = await getStatistics(context, { organizationId }, { period: 'hour' });
    const figures = deployments.map((one) => [one.agentId, one.agentName, one.agentDeleted, one.sessions]);
    expect(new Set(figures)).toEqual(
      new Set([
        [deleted.of.agentId, 'parrot', true, 1],
        [of.agentId, 'parrot', false, 2],
      ]),
    );
  });

  it('contains nothing of another organization, and answers not-found for its agents', async () => {
    const other = await createAgent(await rows.organization(), 'parrot');
    await other.session(300);
    const organizationId = await rows.organization();
    const { total, deployments } = await getStatistics(context, { organizationId }, { period: 'hour' });
    expect([total.sessions, deployments]).toEqual([0, []]);
    for (const agent of ['parrot', other.of.agentId]) {
      await expect(getStatistics(context, { organizationId }, { period: 'hour', agent })).rejects.toMatchObject({
        reason: 'not-found',
      });
    }
  });
});
