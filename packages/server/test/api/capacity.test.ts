import { createApiClient } from '@bothost/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  startAgentSession,
  startWebSocketSession,
  stopAgentSession,
  waitForSessionEnd,
  waitUntilAgentIdle,
} from '../support/client.ts';
import { useTestServer } from '../support/use-test-server.ts';

const most = 4;

const service = await useTestServer({
  bots: {
    cold: { maxAgents: most },
    warm: { maxAgents: most, minAgents: 2 },
    'open-door': { maxAgents: 2, websocketAuth: 'none' },
  },
});

/** Stop the sessions of a failed test, which would otherwise take the capacity of the next test. */
afterEach(async () => {
  for (const agentName of ['cold', 'warm', 'open-door']) {
    const { sessions } = await service.client.getSessions({ params: { agentName }, query: { status: 'active' } });
    await Promise.allSettled(sessions.map(({ sessionId }) => stopAgentSession(service, agentName, sessionId)));
    await waitUntilAgentIdle(service, agentName);
  }
});

const total = async (agentName: string) => (await service.client.getSessions({ params: { agentName } })).total_count;

function startRaw(agentName: string, fields: Record<string, unknown> = {}) {
  const init = createBearerTokenHeaders(service.publicKey, { 'content-type': 'application/json' });
  return fetch(`${service.url}/v1/public/${agentName}/start`, {
    method: 'POST',
    body: JSON.stringify(fields),
    ...init,
  });
}

describe('an agent at its session limit', () => {
  it.each(['cold', 'warm'])('starts only as many concurrent sessions as allowed (%s starts)', async (agent) => {
    const before = await total(agent);
    const answers = await Promise.all(Array.from({ length: 25 }, () => startRaw(agent)));
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([...Array(most).fill(200), ...Array(25 - most).fill(429)]);

    const bodies = await Promise.all(answers.map((answer) => answer.json() as Promise<{ sessionId?: string }>));
    const ids = bodies.flatMap(({ sessionId }) => (sessionId === undefined ? [] : [sessionId]));
    const served = await Promise.all(
      ids.map((id) =>
        evaluateJavaScriptInBot<{ pid: number; starts: { headers: Record<string, string> }[] }>(
          service,
          agent,
          id,
          '({ pid: process.pid, starts: state.starts })',
        ),
      ),
    );
    expect(new Set(served.map(({ pid }) => pid)).size).toBe(most);
    expect(served.map(({ starts }) => starts.map(({ headers }) => headers['x-session-id']))).toEqual(
      ids.map((id) => [id]),
    );

    await Promise.all(ids.map((id) => stopAgentSession(service, agent, id)));
    await waitUntilAgentIdle(service, agent);
    expect((await total(agent)) - before).toBe(most);
  });

  it('answers 429 with Retry-After and the message that clients expect', async () => {
    const ids = await Promise.all(Array.from({ length: most }, () => startAgentSession(service, 'cold')));
    const refused = await startRaw('cold');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    const body = (await refused.json()) as { error: string };
    expect(body).toEqual({
      error: body.error,
      message: body.error,
      info: body.error,
      status: 429,
      code: 'PCC-AGENT-AT-CAPACITY',
      reason: 'at-capacity',
      requestId: refused.headers.get('x-request-id'),
    });
    await Promise.all(ids.map((id) => stopAgentSession(service, 'cold', id)));
    await waitUntilAgentIdle(service, 'cold');
  });

  it('starts another session after a bot has ended its session', async () => {
    const ids = await Promise.all(Array.from({ length: most }, () => startAgentSession(service, 'cold')));
    expect((await startRaw('cold')).status).toBe(429);
    await evaluateJavaScriptInBot(service, 'cold', ids[0] ?? '', 'state.end(200, "{}")');
    expect((await waitForSessionEnd(service, 'cold', ids[0] ?? '')).completionStatus).toBe('HTTP_COMPLETED');
    // Poll, because the instance frees its capacity only when it ends, which is after the end of its session.
    await expect.poll(async () => (await startRaw('cold')).status).toBe(200);
    const { sessions } = await service.client.getSessions({
      params: { agentName: 'cold' },
      query: { status: 'active' },
    });
    expect(sessions).toHaveLength(most);
    await Promise.all(sessions.map(({ sessionId }) => stopAgentSession(service, 'cold', sessionId)));
    await waitUntilAgentIdle(service, 'cold');
  });

  it('refuses a WebSocket with HTTP status 429, and accepts the same token later', async () => {
    const { sessionId, url } = await startWebSocketSession(service, 'cold');
    const ids = await Promise.all(Array.from({ length: most }, () => startAgentSession(service, 'cold')));
    const connect = () =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(url);
        socket.on('unexpected-response', (_, { statusCode = 0, headers }) => {
          expect(headers['retry-after']).toBe('5');
          socket.terminate();
          resolve(statusCode);
        });
        socket.on('error', () => undefined);
        socket.on('open', () => {
          socket.close();
          resolve(101);
        });
      });
    expect(await connect()).toBe(429);
    expect(await connect()).toBe(429);
    await Promise.all(ids.map((id) => stopAgentSession(service, 'cold', id)));
    await waitUntilAgentIdle(service, 'cold');
    expect(await connect()).toBe(101);
    expect((await waitForSessionEnd(service, 'cold', sessionId)).completionStatus).toBe('WS_CONNECTION_CLOSED');
    await waitUntilAgentIdle(service, 'cold');
  });

  it('answers 429 to WebSocket upgrades without a token if the agent requires no token', async () => {
    const before = await total('open-door');
    const url = `${service.url.replace('http', 'ws')}/ws/generic/open-door.${service.organization}`;
    const attempts = await Promise.all(
      Array.from({ length: 8 }, () => {
        const socket = new WebSocket(url);
        return new Promise<{ socket: WebSocket; status: number }>((resolve) => {
          socket.on('open', () => resolve({ socket, status: 101 }));
          socket.on('unexpected-response', (_, answer) => resolve({ socket, status: answer.statusCode ?? 0 }));
          socket.on('error', () => undefined);
        });
      }),
    );
    expect(attempts.map(({ status }) => status).sort()).toEqual([101, 101, 429, 429, 429, 429, 429, 429]);
    for (const { socket } of attempts) socket.terminate();
    await waitUntilAgentIdle(service, 'open-door');
    const list = createApiClient({ origin: service.url, key: service.privateKey });
    const { sessions } = await list.getSessions({ params: { agentName: 'open-door' } });
    expect(sessions.slice(0, sessions.length - before).map((session) => session.completionStatus)).toEqual([
      'WS_CONNECTION_CLOSED',
      'WS_CONNECTION_CLOSED',
    ]);
  });
});
