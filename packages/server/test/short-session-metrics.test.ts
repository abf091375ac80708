import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startAgentSession, startWebSocketSession, waitForSessionEnd } from './support/client.ts';
import { useTestServer } from './support/use-test-server.ts';

/** Source of a bot that evaluates the field `end` of the start request's body, or the query of the WebSocket. */
const endingBot = `
const { WebSocketServer } = require('ws');
const server = require('node:http').createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  eval(JSON.parse(Buffer.concat(chunks).toString() || '{}').end ?? 'response.end()');
});
const sockets = new WebSocketServer({ noServer: true });
server.on('upgrade', (request, stream, head) => {
  const end = new URL(request.url, 'http://bot').searchParams.get('end');
  if (end.startsWith('stream')) return eval(end);
  sockets.handleUpgrade(request, stream, head, (socket) => eval(end));
});
server.listen(Number(process.env.PORT), process.env.BOT_HOST);`;

const agentName = 'brief';
const service = await useTestServer({ bots: { [agentName]: { minAgents: 1, prelude: endingBot, alone: true } } });

async function expectMetrics(sessionId: string): Promise<void> {
  const { resourceMetrics } = await waitForSessionEnd(service, agentName, sessionId);
  expect(resourceMetrics?.sampleCount).toBeGreaterThanOrEqual(1);
  expect(resourceMetrics?.timeseries).not.toEqual([]);
  expect(resourceMetrics?.cpuMillicoresP50).toBeGreaterThanOrEqual(0);
  // A sample can be taken while the bot exits and frees its memory.
  expect(resourceMetrics?.memoryBytesP50).toBeGreaterThan(1_000_000);
}

it.each([
  'response.end("{}")',
  'response.statusCode = 500, response.end()',
  'process.exit(0)',
  'process.exit(3)',
  'process.kill(process.pid, "SIGKILL")',
])('a session shorter than a second has metrics if the bot ends it with %s', async (end) => {
  await expectMetrics(await startAgentSession(service, agentName, { end }));
});

it.each([
  'socket.close()',
  'socket.terminate()',
  'process.exit(3)',
  'process.kill(process.pid, "SIGKILL")',
  'stream.end("HTTP/1.1 403 No\\r\\n\\r\\n")',
])('a WebSocket session shorter than a second has metrics if the bot ends it with %s', async (end) => {
  const { sessionId, url } = await startWebSocketSession(service, agentName);
  const socket = new WebSocket(`${url}&end=${encodeURIComponent(end)}`);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  await expectMetrics(sessionId);
});
