import { describe, expect, it } from 'vitest';
import { secondsAgo, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { markEnded } from '../instances/lifecycle.ts';
import { newId } from '../store/uuid.ts';
import { countInstanceReplacements, replaceInstance } from './replace-instance.ts';

const rows = await useTestRows();
const organizationId = await rows.organization();
const hostId = await rows.host();

type Fields = Parameters<TestDatabaseRows['session']>[1];

/** Inserts a session that was dispatched to its ready instance, unless `fields` say otherwise. */
async function open(fields: Fields = {}) {
  const agent = { name: `a${newId()}` };
  const of = await rows.deployedAgent({ organizationId, hostId, agent, deployment: { max_agents: 1 } });
  const sessionId = await rows.session(of, { requested_at: secondsAgo(5), dispatched_at: secondsAgo(4), ...fields });
  const instanceId = await rows.instance(of, { session_id: sessionId });
  const replace = (id = instanceId, cause = 'It refused the connection.') =>
    replaceInstance(
      { db: rows.db, now: () => testNow, newId, host: { id: hostId }, runtime: { isAddressCurrent: () => true } },
      { sessionId, instanceId: id, cause },
    );
  const session = () => rows.find('sessions', sessionId);
  const instance = (id: string) =>
    rows.db.selectFrom('instances').select(['state', 'session_id']).where('id', '=', id).executeTakeFirst();
  return { of, sessionId, instanceId, replace, session, instance };
}

describe('replaceInstance', () => {
  it('stops the instance, claims an idle ready one, and records the cause as an event', async () => {
    const { of, sessionId, instanceId, replace, session, instance } = await open();
    const idle = await rows.instance(of, { port: 40_001 });
    const replaced = await replace();
    expect(replaced).toMatchObject({ organizationId, claim: { instanceId: idle, address: { port: 40_001 } } });
    expect(await instance(instanceId)).toEqual({ state: 'stopping', session_id: null });
    expect(await instance(idle)).toEqual({ state: 'ready', session_id: sessionId });
    expect(await session()).toMatchObject({
      state: 'starting',
      dispatched_at: null,
      claimed_at: testNow,
      events: [{ code: 'INSTANCE_REPLACED', detail: { cause: 'It refused the connection.' } }],
    });
  });

  it('gives another instance to a session that claimed one just before its end was recorded', async () => {
    const { sessionId, instanceId, replace, instance } = await open();
    await markEnded({ db: rows.db, now: () => testNow }, instanceId);
    const replaced = await replace();
    expect(await instance(instanceId)).toEqual({ state: 'ended', session_id: null });
    expect(await instance(replaced?.claim.instanceId ?? '')).toEqual({ state: 'starting', session_id: sessionId });
  });

  it('creates an instance if none is idle, and stops after the third one', async () => {
    const { sessionId, instanceId, replace, instance } = await open();
    let latest = instanceId;
    for (const cause of ['one', 'two', 'three']) {
      const replaced = await replace(latest, cause);
      latest = replaced?.claim.instanceId ?? '';
      expect(await instance(latest)).toEqual({ state: 'starting', session_id: sessionId });
    }
    expect(await countInstanceReplacements(rows.db, sessionId)).toBe(3);
    expect(await replace(latest, 'four')).toBeNull();
    expect(await instance(latest)).toEqual({ state: 'starting', session_id: sessionId });
  });

  it.each<[string, Fields]>([
    ['is live', { state: 'live', bot_started_at: secondsAgo(1) }],
    ['is being stopped', { state: 'ending' }],
    ['has ended', { state: 'ended', ended_at: testNow, completion_status: 'HTTP_ERROR' }],
    ['has waited for five minutes', { requested_at: secondsAgo(300) }],
  ])('changes nothing if the session %s', async (_, fields) => {
    const { sessionId, instanceId, replace, session, instance } = await open(fields);
    const before = await session();
    expect(await replace()).toBeNull();
    expect(await session()).toEqual(before);
    expect(await instance(instanceId)).toEqual({ state: 'ready', session_id: sessionId });
  });

  it('changes nothing if the session has another instance by now', async () => {
    const { of, session, replace } = await open();
    const before = await session();
    expect(await replace(await rows.instance(of))).toBeNull();
    expect(await session()).toEqual(before);
  });

  it('gives a session one other instance if two parts of the server request it at once', async () => {
    const { replace, session } = await open();
    const replaced = await Promise.all([replace(), replace()]);
    expect(replaced.filter((one) => one !== null)).toHaveLength(1);
    expect((await session()).events).toHaveLength(1);
  });
});
