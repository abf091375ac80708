import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestDatabaseRows, secondsAgo, type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { newId } from '../store/uuid.ts';
import { type InMemoryObservedState, readObservedState } from './observe.ts';
import { planReconcileActions } from './plan.ts';

let rows: TestDatabaseRows;
let organizationId: string;
let hostId: string;
beforeEach(async () => {
  rows = await createTestDatabaseRows();
  organizationId = await rows.organization();
  hostId = await rows.host();
});
afterEach(() => rows.close());

const serverId = newId();
/** The in-memory state of a server that has just started: it owns no session and starts no instance. */
const fresh: InMemoryObservedState = {
  isOwned: () => false,
  isBusyInstance: () => false,
  isBusyDeployment: () => false,
  restAfterFailureUntil: () => null,
  serverId,
  draining: false,
};
async function read(running: readonly string[] = [], inMemory: Partial<InMemoryObservedState> = {}) {
  const list = async () =>
    running.map((instanceId) => ({ instanceId, deploymentId: 'd', state: 'ready' as const, address: null }));
  const runtime = { list, findReplaceable: () => new Set(running.slice(1)) };
  const context = { db: rows.db, now: () => testNow, runtime, host: { id: hostId, region: 'us-west' } };
  return readObservedState(context, { ...fresh, ...inMemory });
}
const agent = (name = 'parrot', deployment: Parameters<TestDatabaseRows['deployment']>[1] = {}) =>
  rows.deployedAgent({ organizationId, hostId, agent: { name }, deployment });

it('readObservedState marks a deployment as serving if it is ready, active, and its agent is not deleted', async () => {
  const old = await agent();
  await rows.instance(old);
  const young = await rows.deployment(old.agentId);
  const coming = await rows.deployment(old.agentId, { state: 'preparing', prepared: null });
  const deleted = await agent('deleted');
  await rows.update('agents', deleted.agentId, { deleted_at: testNow });
  const { observed } = await read();
  const serving = Object.fromEntries(observed.deployments.map((one) => [one.id, one.serving]));
  expect(serving).toMatchObject({
    [young]: true,
    [coming]: false,
    [old.deploymentId]: false,
    [deleted.deploymentId]: false,
  });
});

it('readObservedState ignores deployments, instances and sessions of other regions and hosts', async () => {
  const here = await agent();
  const elsewhere = await rows.agent(organizationId, { name: 'far', region: 'eu' });
  const far = { ...here, agentId: elsewhere, deploymentId: await rows.deployment(elsewhere) };
  await rows.session(far, { state: 'live' });
  await rows.instance({ ...far, hostId: await rows.host('eu') });
  const { observed } = await read();
  expect(observed).toMatchObject({ instances: [], sessions: [], orphans: [] });
  expect(observed.deployments.map(({ id }) => id)).toEqual([here.deploymentId]);
});

it('readObservedState ignores ended instances and sessions', async () => {
  const of = await agent();
  const ended = { state: 'ended', ended_at: testNow } as const;
  const sessionId = await rows.session(of, { ...ended, completion_status: '500' });
  await rows.instance(of, { ...ended, session_id: sessionId });
  expect((await read()).observed).toMatchObject({ instances: [], sessions: [] });
});

it('readObservedState reports instances in the runtime as running, or as orphans if they have no database row and are not being started or removed', async () => {
  const of = await agent();
  const [running, exited] = [await rows.instance(of), await rows.instance(of)];
  const { observed } = await read([running, 'orphan', 'busy'], { isBusyInstance: (id) => id === 'busy' });
  expect(Object.fromEntries(observed.instances.map((one) => [one.id, one.running]))).toEqual({
    [running]: true,
    [exited]: false,
  });
  expect(observed.orphans).toEqual(['orphan']);
});

it('readObservedState returns the time limit and instance of a session, and whether this process owns the session', async () => {
  const of = await agent('parrot', { max_session_seconds: 90 });
  const sessionId = await rows.session(of, {
    state: 'live',
    bot_started_at: secondsAgo(5),
    requested_at: secondsAgo(9),
  });
  const instanceId = await rows.instance(of, { session_id: sessionId });
  const { observed, rows: known } = await read([instanceId], { isOwned: (id) => id === sessionId });
  expect(observed.sessions).toMatchObject([
    {
      id: sessionId,
      state: 'live',
      maxSeconds: 90,
      instanceId,
      owned: true,
      relayLost: false,
      botStartedAt: secondsAgo(5),
    },
  ]);
  expect(known.sessions.get(sessionId)).toMatchObject({ agent_name: 'parrot', organization_id: organizationId });
});

it('readObservedState marks a relayed WebSocket as lost only if the server that relayed it has ended', async () => {
  const of = await agent();
  const socket = { state: 'live', transport: 'websocket' } as const;
  const mine = await rows.session(of, { ...socket, relay_id: serverId });
  const lost = await rows.session(of, { ...socket, relay_id: newId() });
  const waiting = await rows.session(of, { ...socket, state: 'waiting' });
  const { observed } = await read();
  const relayLost = Object.fromEntries(observed.sessions.map((one) => [one.id, one.relayLost]));
  expect(relayLost).toEqual({ [mine]: false, [lost]: true, [waiting]: false });
});

it('a plan after a crash adopts live sessions, starts pending instances, and ends lost sessions', async () => {
  const of = await agent();
  const claim = async (state: 'starting' | 'live', instance: Parameters<TestDatabaseRows['instance']>[1] = {}) => {
    const sessionId = await rows.session(of, {
      state,
      requested_at: secondsAgo(5),
      bot_started_at: state === 'live' ? secondsAgo(4) : null,
    });
    return { sessionId, instanceId: await rows.instance(of, { session_id: sessionId, ...instance }) };
  };
  const live = await claim('live');
  const begun = await claim('starting', { state: 'starting', ready_at: null });
  const ready = await claim('starting');
  const lost = await claim('live');
  const without = await rows.session(of, { state: 'starting' });
  const { observed } = await read([live.instanceId, ready.instanceId, 'orphan']);
  expect(new Set(planReconcileActions(observed))).toEqual(
    new Set([
      { do: 'adopt-session', sessionId: live.sessionId },
      { do: 'start-instance', instanceId: begun.instanceId },
      { do: 'adopt-session', sessionId: ready.sessionId },
      { do: 'instance-lost', instanceId: lost.instanceId },
      { do: 'end-session', sessionId: without, status: 'HTTP_ERROR', at: 'now' },
      { do: 'remove-orphan', instanceId: 'orphan' },
    ]),
  );
});
