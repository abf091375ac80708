import { describe, expect, it } from 'vitest';
import { secondsAgo, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { purgeSessions } from './retention.ts';
import { hasSessionOfPhoneCall } from './rows.ts';

const day = 86_400;

const purge = (days: number) => purgeSessions({ db: rows.db, now: () => testNow }, days);
const ended = (seconds: number) =>
  ({
    state: 'ended',
    completion_status: 'HTTP_COMPLETED',
    created_at: secondsAgo(seconds + 60),
    ended_at: secondsAgo(seconds),
  }) as const;
const left = async (table: 'sessions' | 'instances') =>
  new Set((await rows.db.selectFrom(table).select('id').execute()).map(({ id }) => id));

const rows = await useTestRows();
const of = await rows.deployedAgent();
const { agentId } = of;

describe('session retention', () => {
  it('removes sessions that ended before the retention period, with their metrics, and keeps open sessions of any age', async () => {
    const open = await rows.session(of, { state: 'live', created_at: secondsAgo(500 * day) });
    const young = await rows.session(of, ended(90 * day - 1));
    const old = await rows.session(of, ended(90 * day + 1));
    await rows.db
      .insertInto('session_metrics')
      .values(
        [young, old].map((session_id) => ({
          session_id,
          id: session_id,
          sample_count: 1,
          ...{ cpu_p50: 1, cpu_p90: 1, cpu_p95: 1, cpu_p99: 1 },
          ...{ memory_p50: 1, memory_p90: 1, memory_p95: 1, memory_p99: 1 },
          timeseries: '[]',
          event_at: testNow,
          created_at: testNow,
        })),
      )
      .execute();
    expect(await purge(90)).toBe(1);
    expect(await left('sessions')).toEqual(new Set([open, young]));
    const metrics = await rows.db.selectFrom('session_metrics').select('session_id').execute();
    expect(metrics).toEqual([{ session_id: young }]);
  });

  it('remembers the phone calls of removed sessions, so that a recorded request starts no second one', async () => {
    const phoneCall = { phone_carrier: 'twilio', phone_call: 'CA1' } as const;
    const id = await rows.session(of, { ...ended(90 * day + 1), ...phoneCall });
    await purge(90);
    expect(await left('sessions')).not.toContain(id);
    const isKnown = (agent: string, callId: string) =>
      hasSessionOfPhoneCall(rows.db, agent, { carrier: 'twilio', callId });
    expect(await isKnown(agentId, 'CA1')).toBe(true);
    expect(await isKnown(agentId, 'CA2')).toBe(false);
    expect(await isKnown(await rows.agent(await rows.organization()), 'CA1')).toBe(false);
  });

  it('keeps all sessions if retention is 0 days', async () => {
    const id = await rows.session(of, ended(5_000 * day));
    expect(await purge(0)).toBe(0);
    expect(await left('sessions')).toContain(id);
  });

  it('removes more sessions than fit in one batch', async () => {
    const rowsOfOne = Array.from({ length: 1_500 }, () => ({
      organization_id: of.organizationId,
      agent_id: of.agentId,
      deployment_id: of.deploymentId,
      transport: 'none' as const,
      updated_at: testNow,
      events: '[]',
      ...ended(1_000 * day),
    }));

    await rows.db
      .insertInto('sessions')
      .values(rowsOfOne.map((row) => ({ id: newId(), ...row })))
      .execute();
    expect(await purge(100)).toBeGreaterThanOrEqual(1_500);
    const old = rows.db
      .selectFrom('sessions')
      .where('ended_at', '<', secondsAgo(100 * day))
      .select('id');
    expect(await old.execute()).toEqual([]);
  });

  it('keeps the row of an instance until a day after its end', async () => {
    const running = await rows.instance(of, { created_at: secondsAgo(9 * day) });
    const fresh = await rows.instance(of, { state: 'ended', ended_at: secondsAgo(day - 1) });
    const expired = await rows.instance(of, { state: 'ended', ended_at: secondsAgo(day + 1) });
    await purge(0);
    const kept = await left('instances');
    expect(kept).toContain(running);
    expect(kept).toContain(fresh);
    expect(kept).not.toContain(expired);
  });
});
