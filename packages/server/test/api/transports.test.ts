import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startWebSocketSession, waitForSessionEnd } from '../support/client.ts';
import { useTestServer } from '../support/use-test-server.ts';

/** Returns code of a bot that reports `transports` in `GET /_bot/session`. */
const reporting = (transports: unknown) => `queueMicrotask(() => {
  const report = ${JSON.stringify(JSON.stringify({ state: 'idle', transports }))};
  state.onRequest = ({ url }, response) => url.startsWith('/_bot/session') ? response.end(report) : response.writeHead(404).end();
});`;

const service = await useTestServer({
  bots: { reporter: { prelude: reporting(['daily', 'webrtc']) }, odd: { prelude: reporting(['a b', 7]) }, silent: {} },
});

const transportsOf = async (agentName: string) => {
  const params = { agentName };
  const [agent, check] = [await service.client.getAgent({ params }), await service.publicClient.checkAgent({ params })];
  expect(check.transports).toEqual(agent.transports);
  return agent.transports;
};
async function call(agentName: string, code: number) {
  const { sessionId, url } = await startWebSocketSession(service, agentName);
  const socket = new WebSocket(url);
  await once(socket, 'open');
  socket.close(code);
  return waitForSessionEnd(service, agentName, sessionId);
}

describe('the transports of an agent', () => {
  it('are the ones in the report of the bot, as soon as the deployment serves', async () => {
    await expect.poll(() => transportsOf('reporter')).toEqual(['daily', 'webrtc']);
  });

  it('are unknown if the bot reports none, or something else', async () => {
    await expect.poll(async () => (await service.client.getAgent({ params: { agentName: 'odd' } })).ready).toBe(true);
    expect([await transportsOf('odd'), await transportsOf('silent')]).toEqual([null, null]);
  });

  it('are learned from the first successful session, unless the bot reports them', async () => {
    await call('silent', 1000);
    expect(await transportsOf('silent')).toEqual(['websocket']);
    await call('reporter', 1000);
    expect(await transportsOf('reporter')).toEqual(['daily', 'webrtc']);
  });
});
