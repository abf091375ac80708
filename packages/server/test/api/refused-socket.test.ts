import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startWebSocketSession, waitForSessionEnd } from '../support/client.ts';
import { useTestServer } from '../support/use-test-server.ts';

/** Source of a bot that answers a WebSocket upgrade like any other request, as servers without WebSocket support do. */
const plainServer = `require('node:http').createServer((request, response) => {
  const [, status = '200', phrase] = /status=(\\d+)(?:&phrase=(.*))?$/.exec(request.url) ?? [];
  if (phrase === undefined) response.writeHead(Number(status));
  else response.writeHead(Number(status), decodeURIComponent(phrase));
  response.end('hello');
}).listen(Number(process.env.PORT), process.env.BOT_HOST);`;

const service = await useTestServer({ bots: { plain: { minAgents: 1, prelude: plainServer, alone: true } } });

it.each([
  ['', 200, 'OK', 'responded with 200 OK.'],
  ['&status=404', 404, 'Not Found', 'responded with 404 Not Found.'],
  ['&status=403&phrase=%5Bb%5Dno%5B/b%5D', 403, 'bno/b', 'responded with 403 bno/b.'],
])(
  'the service returns 502 and records the status from the bot if the bot refuses a WebSocket: query "%s"',
  async (query, status, phrase, message) => {
    const { sessionId, url } = await startWebSocketSession(service, 'plain');
    const socket = new WebSocket(url + query);
    socket.on('error', () => undefined);
    const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(answer.statusCode).toBe(502);
    expect(JSON.parse(await text(answer))).toMatchObject({
      reason: 'bot-refused',
      error: expect.stringContaining(message),
    });
    // A web page cannot read the HTTP response to a refused WebSocket. It can read the error from a plain request with
    // the same token.
    const repeated = await fetch(url.replace('ws', 'http'));
    expect([repeated.status, await repeated.json()]).toEqual([502, expect.objectContaining({ reason: 'bot-refused' })]);
    const session = await waitForSessionEnd(service, 'plain', sessionId);
    expect(session).toMatchObject({ completionStatus: String(status), endState: 'agent_error', botStartSeconds: null });
    const refusals = session.events.filter(({ eventCode }) => eventCode === 'SOCKET_REFUSED');
    expect(refusals).toMatchObject([{ detail: { status, phrase } }]);
  },
);

it('a plain HTTP request to a WebSocket URL returns 426 whether its token is valid, unknown or missing', async () => {
  const { wsUrl, token } = await service.publicClient.startSession({
    params: { agentName: 'plain' },
    body: { transport: 'websocket' },
  });
  const url = wsUrl?.replace('ws', 'http') ?? '';
  for (const query of [`?token=${token}`, '?token=unknown', '']) expect((await fetch(url + query)).status).toBe(426);
});
