import { randomUUID } from 'node:crypto';
import { ApiError, errorBody } from '@bothost/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ago, type TestRows, testNow, testRows } from '../../test/support/test-rows.ts';
import { testVault } from '../../test/support/test-vault.ts';
import { newId } from '../store/uuid.ts';
import { connectSession, connectWithoutToken } from './connect.ts';
import { type StartInput, startSession } from './start.ts';
import { stopSession } from './stop.ts';

let rows: TestRows;
let organizationId: string;
let hostId: string;
let vault: Awaited<ReturnType<typeof testVault>>;

beforeAll(async () => {
  rows = await testRows();
  organizationId = await rows.organization();
  hostId = await rows.host();
  vault = await testVault(rows);
});
afterAll(() => rows.close());

const serverId = randomUUID();
const context = () => ({ ...vault.context, now: () => testNow, host: { id: hostId, region: 'us-west' }, serverId });
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
    // The cause is for the service's own log; what the caller gets is the same.
    const [told, other] = errors.map((error) => (error instanceof ApiError ? errorBody(error, 'request') : error));
    expect(told).toEqual(other);
    expect(told).toMatchObject({ reason: 'token-invalid' });
  });
});
