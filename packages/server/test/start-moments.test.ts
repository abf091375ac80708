import { once } from 'node:events';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startWebSocketSession } from './support/client.ts';
import { useTestServer } from './support/use-test-server.ts';

const agentName = 'moments';
const service = await useTestServer({ bots: { [agentName]: { minAgents: 1 } } });

it('a WebSocket session records when its client connected, and later when the bot sent the first frame', async () => {
  const { sessionId, url } = await startWebSocketSession(service, agentName);
  const read = () => service.client.getSession({ params: { agentName, sessionId } });
  const socket = new WebSocket(url);
  await once(socket, 'open');
  await expect.poll(async () => (await read()).startPhases?.transportConnected).toBeGreaterThanOrEqual(0);
  const connected = await read();
  expect(connected.startPhases).toMatchObject({ botCalled: null, firstFrame: null });
  const { claim = 0, boot = 0, dispatch = 0, transportConnected } = connected.startPhases ?? {};
  expect(transportConnected).toBe(claim + boot + dispatch);
  expect(connected.botStartMilliseconds).toBe(transportConnected);

  socket.send('first');
  await once(socket, 'message');
  await expect.poll(async () => (await read()).startPhases?.firstFrame).toBeGreaterThanOrEqual(transportConnected ?? 0);
  const first = (await read()).startPhases?.firstFrame;
  socket.send('second');
  await once(socket, 'message');
  socket.close();
  await expect.poll(async () => (await read()).endedAt).not.toBeNull();
  expect((await read()).startPhases?.firstFrame).toBe(first);
});
