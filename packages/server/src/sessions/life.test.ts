import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ago, type TestRows, testNow, testRows } from '../store/test-rows.ts';
import { newId } from '../uuid.ts';
import { connectSession, connectWithoutToken } from './connect.ts';
import { decideEnd, markHandedOver, markLive } from './progress.ts';
import { type StartInput, startSession } from './start.ts';
import { stopSession } from './stop.ts';

let rows: TestRows;
let organizationId: string;
let hostId: string;

beforeAll(async () => {
  rows = await testRows();
  organizationId = await rows.organization();
  hostId = await rows.host();
});
afterAll(() => rows.close());

const serverId = randomUUID();
const context = () => ({ db: rows.db, now: () => testNow, newId, host: { id: hostId, region: 'us-west' }, serverId });
const input = (agentName: string, fields: Partial<StartInput> = {}): StartInput => ({
  sessionId: newId(),
  organizationId,
  agentName,
  transport: 'none',
  body: null,
  requestedAt: ago(1),
  ...fields,
});
/** An agent of a name of its own, with a serving deployment. */
async function agent(fields: Parameters<TestRows['deployment']>[1] = {}, more: Parameters<TestRows['agent']>[1] = {}) {
  const name = `a${newId().slice(-12)}`;
  const agentId = await rows.agent(organizationId, { name, ...more });
  const deploymentId = await rows.deployment(agentId, fields);
  return { name, of: { organizationId, agentId, deploymentId, hostId } };
}
const sessionRow = (id: string) => rows.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
const instanceOf = (sessionId: string) =>
  rows.db.selectFrom('instances').selectAll().where('session_id', '=', sessionId).executeTakeFirst();

describe('the start of a session', () => {
  it('takes the longest idle ready instance', async () => {
    const { name, of } = await agent();
    await rows.instance(of, { created_at: ago(5) });
    const oldest = await rows.instance(of, { created_at: ago(9), ready_at: ago(8), reports_session: true });
    await rows.instance(of, { created_at: ago(20), state: 'starting', host: null, port: null, ready_at: null });
    const start = input(name, { body: '{"a":1}' });
    const { claim } = await startSession(context(), start);
    expect(claim).toMatchObject({
      instanceId: oldest,
      address: { host: '127.0.0.1', port: 40_000 },
      readyAt: ago(8),
      reportsSession: true,
    });
    expect(await sessionRow(start.sessionId)).toMatchObject({
      state: 'starting',
      body: '{"a":1}',
      created_at: ago(1),
      requested_at: ago(1),
      claimed_at: testNow,
    });
  });

  it('else takes one that is starting, which is a cold start', async () => {
    const { name, of } = await agent();
    const id = await rows.instance(of, { state: 'starting', host: null, port: null, ready_at: null });
    expect((await startSession(context(), input(name))).claim).toMatchObject({ instanceId: id, address: null });
  });

  it('else makes a place for a new one', async () => {
    const { name } = await agent();
    const start = input(name);
    const { claim } = await startSession(context(), start);
    expect(claim?.address).toBeNull();
    expect(await instanceOf(start.sessionId)).toMatchObject({
      id: claim?.instanceId,
      state: 'starting',
      host_id: hostId,
    });
  });

  it('takes no instance of the deployment before, nor one that is stopping', async () => {
    const { name, of } = await agent();
    const old = await rows.instance(of);
    const deploymentId = await rows.deployment(of.agentId);
    const stopping = await rows.instance({ ...of, deploymentId }, { state: 'stopping' });
    expect([old, stopping]).not.toContain((await startSession(context(), input(name))).claim?.instanceId);
  });

  it('at max_agents is refused, and leaves nothing', async () => {
    const { name } = await agent({ max_agents: 1 });
    await startSession(context(), input(name));
    const start = input(name);
    await expect(startSession(context(), start)).rejects.toMatchObject({ reason: 'at-capacity', status: 429 });
    expect(await sessionRow(start.sessionId)).toBeUndefined();
  });

  it('at max_agents is refused although an idle instance is there', async () => {
    const { name, of } = await agent({ max_agents: 1 });
    await startSession(context(), input(name));
    await rows.instance(of);
    await expect(startSession(context(), input(name))).rejects.toMatchObject({ reason: 'at-capacity' });
  });

  it('counts the sessions of the deployment before, too', async () => {
    const { name, of } = await agent({ max_agents: 1 });
    await startSession(context(), input(name));
    await rows.deployment(of.agentId, { max_agents: 1 });
    await expect(startSession(context(), input(name))).rejects.toMatchObject({ reason: 'at-capacity' });
  });

  it('is possible again when an instance has ended', async () => {
    const { name } = await agent({ max_agents: 1 });
    const start = input(name);
    await startSession(context(), start);
    await rows.db
      .updateTable('instances')
      .set({ state: 'ended', ended_at: testNow })
      .where('session_id', '=', start.sessionId)
      .execute();
    expect((await startSession(context(), input(name))).claim).not.toBeNull();
  });

  it('of twelve at once gives each its own instance, and never more than max_agents', async () => {
    const { name, of } = await agent({ max_agents: 5 });
    for (let count = 0; count < 3; count += 1) await rows.instance(of);
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => startSession(context(), input(name))));
    const claimed = results.flatMap((result) =>
      result.status === 'fulfilled' ? [result.value.claim?.instanceId] : [],
    );
    expect(claimed).toHaveLength(5);
    expect(new Set(claimed).size).toBe(5);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ reason: 'at-capacity' });
    }
  });

  it.each([
    ['an unknown agent', 'not-found', async () => 'nobody'],
    [
      "another organization's agent",
      'not-found',
      async () => {
        const agentId = await rows.agent(await rows.organization(), { name: 'theirs' });
        await rows.deployment(agentId);
        return 'theirs';
      },
    ],
    ['a deleted agent', 'not-found', async () => (await agent({}, { deleted_at: testNow })).name],
    [
      'one whose deployment is not ready',
      'deployment-not-ready',
      async () => (await agent({ state: 'preparing' })).name,
    ],
    ['one of another region', 'deployment-not-ready', async () => (await agent({}, { region: 'eu' })).name],
  ] as const)('of %s fails with %s', async (_, reason, name) => {
    await expect(startSession(context(), input(await name()))).rejects.toMatchObject({ reason });
  });

  it('over a WebSocket waits for its client and takes nothing', async () => {
    const { name } = await agent();
    const start = input(name, { transport: 'websocket', body: '{}' });
    expect((await startSession(context(), start)).claim).toBeNull();
    expect(await sessionRow(start.sessionId)).toMatchObject({ state: 'waiting', requested_at: null, claimed_at: null });
  });

  it('over a WebSocket of an agent without tokens makes no session, and can carry no body', async () => {
    const { name } = await agent({ websocket_auth: 'none' });
    const start = input(name, { transport: 'websocket' });
    await startSession(context(), start);
    expect(await sessionRow(start.sessionId)).toBeUndefined();
    await expect(startSession(context(), { ...start, body: '{}' })).rejects.toMatchObject({
      reason: 'body-needs-token',
    });
  });
});

describe('the client of a WebSocket start', () => {
  const target = (agentName: string, sessionId: string) => ({ organizationId, agentName, sessionId });
  async function waiting(fields: Parameters<TestRows['deployment']>[1] = {}) {
    const { name, of } = await agent(fields);
    const start = input(name, { transport: 'websocket' });
    await startSession(context(), start);
    return { name, of, sessionId: start.sessionId };
  }

  it('gets an instance when it comes', async () => {
    const { name, sessionId } = await waiting();
    const { claim, maxSessionSeconds } = await connectSession(context(), target(name, sessionId));
    expect(maxSessionSeconds).toBe(7200);
    expect(await instanceOf(sessionId)).toMatchObject({ id: claim.instanceId });
    expect(await sessionRow(sessionId)).toMatchObject({ state: 'starting', relay_id: serverId, requested_at: testNow });
  });

  it('comes once: of several at the same time one gets it', async () => {
    const { name, sessionId } = await waiting();
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => connectSession(context(), target(name, sessionId))),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ reason: 'token-invalid' });
    }
  });

  it('at capacity keeps its token: it may come again', async () => {
    const { name, of, sessionId } = await waiting({ max_agents: 1 });
    const taken = await rows.session(of);
    const instance = await rows.instance(of, { session_id: taken });
    await expect(connectSession(context(), target(name, sessionId))).rejects.toMatchObject({ reason: 'at-capacity' });
    expect(await sessionRow(sessionId)).toMatchObject({ state: 'waiting', relay_id: null });
    await rows.db
      .updateTable('instances')
      .set({ state: 'ended', ended_at: testNow })
      .where('id', '=', instance)
      .execute();
    await connectSession(context(), target(name, sessionId));
  });

  it('cannot take the session of another agent with it', async () => {
    const { sessionId } = await waiting();
    const { name } = await agent();
    await expect(connectSession(context(), target(name, sessionId))).rejects.toMatchObject({ reason: 'token-invalid' });
    expect(await sessionRow(sessionId)).toMatchObject({ state: 'waiting' });
  });

  it('comes too late when the session was stopped', async () => {
    const { name, sessionId } = await waiting();
    await stopSession(context(), { organizationId }, name, sessionId);
    await expect(connectSession(context(), target(name, sessionId))).rejects.toMatchObject({ reason: 'token-invalid' });
  });

  it('needs no token where the agent asks for none', async () => {
    const { name } = await agent({ websocket_auth: 'none' });
    const sessionId = newId();
    await connectWithoutToken(context(), target(name, sessionId));
    expect(await sessionRow(sessionId)).toMatchObject({
      state: 'starting',
      transport: 'websocket',
      relay_id: serverId,
    });
    expect(await instanceOf(sessionId)).toBeDefined();
  });

  it('learns nothing of agents that it may not reach', async () => {
    const { name } = await agent();
    const errors = await Promise.all(
      [name, 'nobody'].map((one) =>
        connectWithoutToken(context(), target(one, newId())).catch((error: unknown) => error),
      ),
    );
    expect(errors[0]).toEqual(errors[1]);
    expect(errors[0]).toMatchObject({ reason: 'token-invalid' });
  });
});

describe('the stop of a session', () => {
  const stop = (name: string, sessionId: string) => stopSession(context(), { organizationId }, name, sessionId);

  it.each(['starting', 'live'] as const)('that is %s is decided, and not yet its end', async (state) => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state });
    await stop(name, id);
    expect(await sessionRow(id)).toMatchObject({ state: 'ending', ending_status: 'SESSION_STOPPED', ended_at: null });
  });

  it('twice is the same as once', async () => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state: 'live' });
    await stop(name, id);
    await stop(name, id.toUpperCase());
    expect(await sessionRow(id)).toMatchObject({ state: 'ending' });
  });

  it('does not change a cause that was decided before', async () => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state: 'ending', ending_status: 'SESSION_TIME_LIMIT' });
    await stop(name, id);
    expect(await sessionRow(id)).toMatchObject({ ending_status: 'SESSION_TIME_LIMIT' });
  });

  it('whose client never came ends it', async () => {
    const { name, of } = await agent();
    const id = await rows.session(of, { state: 'waiting', transport: 'websocket' });
    await stop(name, id);
    expect(await sessionRow(id)).toMatchObject({
      state: 'ended',
      completion_status: 'SESSION_STOPPED',
      ended_at: testNow,
    });
  });

  it("that has ended, is another agent's, or is none, is 404", async () => {
    const { name, of } = await agent();
    const other = await agent();
    const ended = await rows.session(of, { state: 'ended', completion_status: '500', ended_at: testNow });
    const theirs = await rows.session(other.of, { state: 'live' });
    for (const id of [ended, theirs, newId(), 'x', '']) {
      await expect(stop(name, id)).rejects.toMatchObject({ reason: 'not-found' });
    }
    expect(await sessionRow(theirs)).toMatchObject({ state: 'live' });
  });
});

describe('the progress of a session', () => {
  it('to live is written once: the first moment counts', async () => {
    const { of } = await agent();
    const id = await rows.session(of);
    await markLive(context(), id, { at: ago(5), readyAt: ago(6), cold: true });
    await markLive(context(), id, { at: testNow, readyAt: testNow, cold: false });
    expect(await sessionRow(id)).toMatchObject({
      state: 'live',
      bot_started_at: ago(5),
      ready_at: ago(6),
      cold_start: true,
    });
  });

  it('does not bring back one whose end is decided', async () => {
    const { of } = await agent();
    const id = await rows.session(of);
    expect(await decideEnd(context(), id, 'SESSION_STOPPED')).toBe(true);
    expect(await decideEnd(context(), id, 'SESSION_TIME_LIMIT')).toBe(false);
    await markLive(context(), id, { at: testNow, readyAt: testNow, cold: false });
    await markHandedOver(context(), id);
    expect(await sessionRow(id)).toMatchObject({
      state: 'ending',
      ending_status: 'SESSION_STOPPED',
      handed_over_at: null,
    });
  });
});
