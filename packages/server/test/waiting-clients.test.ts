import { once } from 'node:events';
import { maxProxyReadinessWaitSeconds } from '@bothost/contract';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createBotColdStartGate } from './support/bot-cold-start-gate.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  startWebSocketSession,
  stopAgentSession,
  waitForSessionEnd,
} from './support/client.ts';
import { useTestServer } from './support/use-test-server.ts';

const gate = await createBotColdStartGate();
const service = await useTestServer({ bots: { slow: { prelude: gate.prelude } } });
afterAll(gate.close);
// The first session uses the instance that was started to validate the deployment.
const first = await startAgentSession(service, 'slow');
await evaluateJavaScriptInBot(service, 'slow', first, 'true');
gate.shut();
await stopAgentSession(service, 'slow', first);

describe('a client that waits for a cold bot', () => {
  it('gets 504 for an HTTP request when the bot is not ready in time', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const spy = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => spy.mockRestore());
    spy.mockImplementation((ms) => timeout(ms === maxProxyReadinessWaitSeconds * 1000 ? 1 : ms));
    const id = await startAgentSession(service, 'slow');
    const response = await fetch(sessionUrl(service, 'slow', id, '/echo'), createBearerTokenHeaders(service.publicKey));
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ reason: 'bot-not-ready' });
    // Take this bot from the gate. Otherwise, the next test could take it, and stop its session before its WebSocket connects.
    await gate.next();
    await stopAgentSession(service, 'slow', id);
  });

  it('gets 409 for a WebSocket when the session is stopped', async () => {
    const { sessionId, url } = await startWebSocketSession(service, 'slow');
    const socket = new WebSocket(url);
    socket.on('error', () => undefined);
    onTestFinished(() => socket.terminate());
    const refused = once(socket, 'unexpected-response');
    await gate.next();
    await stopAgentSession(service, 'slow', sessionId);
    const [, response] = await refused;
    expect(response.statusCode).toBe(409);
    const text = String((await response.toArray()).join(''));
    expect(JSON.parse(text)).toMatchObject({ reason: 'session-ended' });
    expect((await waitForSessionEnd(service, 'slow', sessionId)).completionStatus).toBe('SESSION_STOPPED');
  });
});
