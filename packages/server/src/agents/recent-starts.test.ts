import { expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { readRecentStarts } from './recent-starts.ts';

const rows = await useTestRows();

it('counts the warm starts of the last hour, and measures how long the present instances took to start', async () => {
  const organizationId = await rows.organization();
  const agentId = await rows.agent(organizationId);
  const of = { organizationId, agentId, deploymentId: await rows.deployment(agentId), hostId: await rows.host() };
  const read = () => readRecentStarts({ db: rows.db, now: () => testNow }, agentId);
  expect(await read()).toEqual({ count: 0, warm: 0, instanceStartMs: null });
  const started = { bot_started_at: secondsAgo(9) };
  await rows.session(of, { ...started, cold_start: false });
  await rows.session(of, { ...started, cold_start: true });
  await rows.session(of);
  await rows.session(of, { ...started, cold_start: false, created_at: secondsAgo(3601) });
  for (const created_at of [secondsAgo(4), secondsAgo(3), secondsAgo(1)]) await rows.instance(of, { created_at });
  await rows.instance(of, { created_at: secondsAgo(900), state: 'ended', ended_at: testNow });
  await rows.instance(of, { state: 'starting', ready_at: null });
  expect(await read()).toEqual({ count: 2, warm: 1, instanceStartMs: 3_000 });
});
