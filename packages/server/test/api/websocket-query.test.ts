import type { ClientRequest } from 'node:http';
import { getWebSocketBasePath, phoneCarriers } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startAgentSession } from '../support/client.ts';
import { createTwilioCall } from '../support/phone-calls.ts';
import { useTestServer } from '../support/use-test-server.ts';

/** Source of a bot that sends the target and the credentials of the upgrade request as the first message of a WebSocket. */
const reflector = `
const server = require('node:http').createServer((request, response) => request.url === '/bot' || response.end());
new (require('ws').WebSocketServer)({ server }).on('connection', (socket, { url, headers }) =>
  socket.send(JSON.stringify({ url, authorization: headers.authorization })));
server.listen(process.env.BOT_SOCKET ?? { port: Number(process.env.PORT), host: process.env.BOT_HOST });`;

// A session ends some time after its client has closed the WebSocket, so that many may be open on a busy machine.
const source = { prelude: reflector, alone: true, minAgents: 2, maxAgents: 50 };
const service = await useTestServer({ bots: { open: { ...source, websocketAuth: 'none' }, guarded: source } });

/**
 * Opens a WebSocket with exactly this request target, which the client's library would otherwise normalize. Returns what the bot
 * received, or the status or the close code of the refusal.
 */
async function connect(target: string, headers: Record<string, string | string[]> = {}, opening: object[] = []) {
  const socket = new WebSocket(service.url.replace('http', 'ws'), {
    headers: headers as Record<string, string>,
    finishRequest: (request: ClientRequest) => {
      request.path = target;
      request.end();
    },
  });
  socket.once('open', () => {
    for (const message of opening) socket.send(JSON.stringify(message));
  });
  const outcome = await new Promise((resolve) => {
    socket.once('message', (data) => resolve(JSON.parse(String(data))));
    socket.once('close', resolve);
    socket.once('unexpected-response', (_, { statusCode }) => resolve(statusCode));
    socket.once('error', resolve);
  });
  socket.terminate();
  return outcome;
}

const hostOf = (agentName: string) => `${agentName}.${service.organization}`;

async function startWithToken(agentName = 'guarded') {
  const params = { agentName };
  const { token = '' } = await service.publicClient.startSession({ params, body: { transport: 'websocket' } });
  return token;
}

const paths = [null, ...phoneCarriers].map(getWebSocketBasePath);

describe.each(paths)('%s of an agent with websocket_auth = "none"', (base) => {
  /** All paths parse tokens with the same code, so only the first one gets every form of each. */
  const choose = <T>(forms: readonly T[]) => (base === paths[0] ? forms : forms.slice(0, 1));

  it('ignores every form of a token, and passes the whole query to the bot', async () => {
    const token = await startWithToken();
    const path = `${base}/${hostOf('open')}`;
    const bearers = [
      { authorization: 'Bearer sk-of-another-service' },
      { authorization: `Bearer ${service.publicKey}` },
      { authorization: `Bearer ${token}` },
      { authorization: 'Basic YTpi' },
    ];
    for (const headers of choose(bearers)) expect(await connect(`${path}?a=1`, headers)).toEqual({ url: '/ws?a=1' });
    for (const query of choose([
      '?token=x',
      '?token=',
      `?a=1&token=${token}&b=2`,
      '?token=a&token=b',
      '?%74oken=%00%ff',
    ]))
      expect(await connect(path + query)).toEqual({ url: `/ws${query}` });
    for (const segment of choose(['/x', `/${token}`, '/%ff', '/']))
      expect(await connect(`${path + segment}?token=y`)).toEqual({ url: '/ws?token=y' });
    const all = await connect(`${base}?token=z&serviceHost=${hostOf('open')}&x`, { authorization: 'Bearer x' });
    expect(all).toEqual({ url: '/ws?token=z&x' });
  });

  it('still refuses a client of an agent that requires a token, and of an unknown agent', async () => {
    for (const name of ['guarded', 'nobody'])
      expect(await connect(`${base}/${hostOf(name)}/x?token=y`, { authorization: 'Bearer z' })).toBe(403);
  });
});

it('Twilio may name an agent with websocket_auth = "none" in its start message and send any token', async () => {
  const { opening } = createTwilioCall(hostOf('open'));
  const headers = { authorization: 'Bearer x' };
  expect(await connect('/ws/twilio?token=y&a', headers, [...opening])).toEqual({ url: '/ws?token=y&a' });
  const guarded = createTwilioCall(hostOf('guarded'));
  expect(await connect('/ws/twilio?token=y', headers, [...guarded.opening])).toBe(1008);
});

/** Queries that a URL parser or a form encoder would change. */
const queries = [
  '?',
  '??',
  '?&',
  '?a=1?b=2&c=?',
  '?empty=&flag&=nameless&&',
  '?z=1&a=2&z=3',
  '?a=c%20d&b=1+1&%61=%2f%2F&bad=%zz%',
  `?quotes='"<>\`{}|\\^[]`,
  '?path=/a/../b/./c//d:e@f;g,h',
  '?token2=a&xtoken=b&TOKEN=c',
  '?a=1&?token=b',
];

it.each(queries)('a WebSocket with a token passes the query %j to the bot byte for byte', async (query) => {
  const path = `/ws/generic/${hostOf('guarded')}`;
  expect(await connect(`${path}/${await startWithToken()}${query}`)).toEqual({ url: `/ws${query}` });
  const fields = query.slice(1);
  const token = await startWithToken();
  expect(await connect(`${path}?${fields}&token=${token}&serviceHost=x`)).toEqual({ url: `/ws?${fields}` });
  expect(await connect(`/ws/telnyx/${hostOf('open')}${query}`)).toEqual({ url: `/ws${query}` });
});

it('the session proxy passes the query of a WebSocket to the bot byte for byte', async () => {
  const path = `/v1/public/guarded/sessions/${await startAgentSession(service, 'guarded')}/socket`;
  const headers = { authorization: `Bearer ${service.publicKey}` };
  for (const query of queries) {
    expect(await connect(path + query, headers)).toEqual({ url: `/socket${query}` });
    const fields = query.slice(1);
    expect(await connect(`${path}?${fields}&access_token=${service.publicKey}`)).toEqual({ url: `/socket?${fields}` });
  }
});
