import { randomUUID } from 'node:crypto';
import { ApiError, createErrorBody } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { type TestDatabaseRows, testNow } from '../../test/support/test-rows.ts';
import { useSessionStarts } from '../../test/support/use-session-starts.ts';
import { newId } from '../store/uuid.ts';
import { connectSession, connectSessionWithoutToken } from './connect.ts';
import { createSession } from './create.ts';
import { stopSession } from './stop.ts';

const starts = await useSessionStarts();
const { rows, organizationId, input, agent, sessionRow, instanceOf } = starts;
const serverId = randomUUID();
const context = () => ({ ...starts.context(), serverId });

describe('connectSession', () => {
  const target = (agentName: string, sessionId: string) => ({ organizationId, agentName, sessionId });
  async function waiting(fields: Parameters<TestDatabaseRows['deployment']>[1] = {}) {
    const { name, of } = await agent(fields);
    const start = input(name, { transport: 'websocket' });
    await createSession(context(), start);
    return { name, of, sessionId: start.sessionId };
  }

  it('claims an instance when the client connects', async () => {
    const { name, sessionId } = await waiting();
    const { claim, maxSessionSeconds } = await connectSession(context(), target(name, sessionId));
    expect(maxSessionSeconds).toBe(7200);
    expect(await instanceOf(sessionId)).toMatchObject({ id: claim.instanceId });
    expect(await sessionRow(sessionId)).toMatchObject({ state: 'starting', relay_id: serverId, requested_at: testNow });
  });

  it('gives the session the level with which it was started', async () => {
    const { name, of, sessionId } = await waiting();
    await rows.update('agents', of.agentId, { conversation_level: 'off' });
    const { conversationLevel } = await connectSession(context(), target(name, sessionId));
    expect(conversationLevel).toBe('timings');
  });

  it('lets only one of several concurrent clients connect', async () => {
    const { name, sessionId } = await waiting();
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => connectSession(context(), target(name, sessionId))),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ reason: 'token-invalid' });
    }
  });

  it('keeps the token valid if the agent is at capacity', async () => {
    const { name, of, sessionId } = await waiting({ max_agents: 1 });
    const taken = await rows.session(of);
    const instance = await rows.instance(of, { session_id: taken });
    await expect(connectSession(context(), target(name, sessionId))).rejects.toMatchObject({ reason: 'at-capacity' });
    expect(await sessionRow(sessionId)).toMatchObject({ state: 'waiting', relay_id: null });
    await rows.update('instances', instance, { state: 'ended', ended_at: testNow });
    await connectSession(context(), target(name, sessionId));
  });

  it("rejects another agent's token", async () => {
    const { sessionId } = await waiting();
    const { name } = await agent();
    await expect(connectSession(context(), target(name, sessionId))).rejects.toMatchObject({ reason: 'token-invalid' });
    expect(await sessionRow(sessionId)).toMatchObject({ state: 'waiting' });
  });

  it('rejects a client of a stopped session', async () => {
    const { name, sessionId } = await waiting();
    await stopSession(context(), { organizationId, keyId: null }, name, sessionId);
    await expect(connectSession(context(), target(name, sessionId))).rejects.toMatchObject({ reason: 'token-invalid' });
  });

  it('requires no token if the agent accepts clients without one', async () => {
    const { name } = await agent({ websocket_auth: 'none' });
    const sessionId = newId();
    await connectSessionWithoutToken(context(), target(name, sessionId));
    expect(await sessionRow(sessionId)).toMatchObject({
      state: 'starting',
      transport: 'websocket',
      relay_id: serverId,
    });
    expect(await instanceOf(sessionId)).toBeDefined();
  });

  it('reveals nothing about agents that the client may not use', async () => {
    const { name } = await agent();
    const errors = await Promise.all(
      [name, 'nobody'].map((one) =>
        connectSessionWithoutToken(context(), target(one, newId())).catch((error: unknown) => error),
      ),
    );
    // The responses for an agent that requires a token and for a missing agent are equal. Only the service's log contains the
    // reason for the rejection.
    const [body, other] = errors.map((error) =>
      error instanceof ApiError ? createErrorBody(error, 'request') : error,
    );
    expect(body).toEqual(other);
    expect(body).toMatchObject({ reason: 'token-invalid' });
  });
});
