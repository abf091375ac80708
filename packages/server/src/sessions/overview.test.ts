import { expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { getOverview } from './overview.ts';

const rows = await useTestRows();

const overview = (organizationId: string) => getOverview({ db: rows.db, now: () => testNow }, { organizationId });
const warm = { cold_start: false };

it('getOverview returns zeros and no percentiles for an organization without agents', async () => {
  expect(await overview(await rows.organization())).toEqual({
    agentCount: 0,
    sessions: { live: 0, capacity: 0 },
    warmPool: { ready: 0, starting: 0, minimum: 0 },
    starts: { count: 0, cold: 0, p50Ms: null, p99Ms: null },
    ends: { count: 0, failed: 0 },
    attention: [],
  });
});

it('getOverview counts only agents of the organization, and only session starts and ends of the last hour', async () => {
  const of = await rows.deployedAgent({ deployment: { min_agents: 1, max_agents: 2 } });
  const session = await rows.session(of);
  await rows.instance(of, { session_id: session });
  await rows.instance(of, { session_id: await rows.session(of) });
  await rows.instance(of);
  await rows.instance(of, { state: 'starting', ready_at: null });
  await rows.instance(of, { state: 'ended', ended_at: testNow });
  const started = (age: number, seconds: number) => ({
    created_at: secondsAgo(age),
    requested_at: secondsAgo(age),
    bot_started_at: secondsAgo(age - seconds),
    state: 'ended' as const,
    ended_at: secondsAgo(age - seconds - 1),
  });
  for (const seconds of [1, 2, 3]) {
    await rows.session(of, { ...started(600, seconds), ...warm, completion_status: 'HTTP_COMPLETED' });
  }
  await rows.session(of, { ...started(300, 9), cold_start: true, completion_status: 'HTTP_ERROR' });
  await rows.session(of, { ...started(300, 2), ...warm, completion_status: 'SERVICE_INTERRUPTED' });
  await rows.session(of, { ...started(7200, 60), ...warm, completion_status: 'HTTP_ERROR' });
  await rows.session(await rows.deployedAgent(), { ...started(300, 30), ...warm, completion_status: 'HTTP_ERROR' });

  const found = await overview(of.organizationId);
  expect(found).toMatchObject({
    agentCount: 1,
    sessions: { live: 2, capacity: 2 },
    warmPool: { ready: 1, starting: 1, minimum: 1 },
    starts: { count: 5, cold: 1, p50Ms: 2000, p99Ms: 9000 },
    ends: { count: 5, failed: 2 },
  });
  expect(found.attention.map(({ kind, cause }) => [kind, cause])).toEqual([
    ['at-capacity', 'All 2 instances have a session, so further starts are refused.'],
    ['sessions-failed', '2 of the 5 sessions that ended in the last hour failed.'],
  ]);
});

it('getOverview reports the errors of failed deployments and of deployments whose instances do not start', async () => {
  const organizationId = await rows.organization();
  const broken = await rows.agent(organizationId, { name: 'broken' });
  await rows.deployment(broken, { state: 'failed', error: 'The build failed.', error_code: 'PCC_PREPARE_FAILED' });
  const flaky = await rows.agent(organizationId, { name: 'flaky' });
  await rows.deployment(flaky, {
    error: 'The bot exited with status 1.',
    error_code: 'PCC_UNKNOWN_ERROR',
    error_at: secondsAgo(5),
  });
  expect((await overview(organizationId)).attention).toMatchObject([
    {
      kind: 'deployment-failed',
      agentName: 'broken',
      serving: 'notServing',
      lastDeploy: 'failed',
      cause: 'The build failed. No deployment serves.',
    },
    {
      kind: 'starts-failing',
      agentName: 'flaky',
      serving: 'serving',
      lastDeploy: 'succeeded',
      cause: 'The bot exited with status 1.',
      since: secondsAgo(5).toISOString(),
    },
  ]);
});
