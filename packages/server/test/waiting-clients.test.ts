import { once } from 'node:events';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createBotColdStartGate } from './support/bot-cold-start-gate.ts';
import {
  evaluateJavaScriptInBot,
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
