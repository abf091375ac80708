import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sendRawBytes,
  sessionUrl,
  startAgentSession,
} from '../support/client.ts';
import { useTestServer } from '../support/use-test-server.ts';

/**
 * Header names that only the service may send to a bot (docs/bot-contract.md, "Headers"), in the forms in which a client could
 * forge them.
 */
const forged: Record<string, string> = {
  'x-session-id': 'forged',
  'X-Daily-Session-Id': 'forged',
  'x-daily-room-url': 'forged',
  'x-daily-transport-type': 'forged',
  'x-transport-type': 'forged',
  'X-PCC-Max-Session-Seconds': 'forged',
  'x-max-session-seconds': 'forged',
  'x-bot-control-token': 'forged',
  'x-moq-relay-url': 'forged',
  'bothost-conversation-level': 'forged',
  x_session_id: 'forged',
  'x_daily-room_token': 'forged',
};

const service = await useTestServer({ bots: { target: {} } });
const sessionId = await startAgentSession(service, 'target');
await evaluateJavaScriptInBot(service, 'target', sessionId, 'true');
const path = new URL(sessionUrl(service, 'target', sessionId)).pathname;

const authorization = () => `authorization: Bearer ${service.publicKey}\r\n`;
const starts = () => evaluateJavaScriptInBot(service, 'target', sessionId, 'state.starts.length');
/**
 * Sends `lines` with CRLF line breaks, and `connection: close` so that the service closes the connection after its response.
 */
const raw = (method: string, target: string, lines: string, body = '') =>
  sendRawBytes(service, `${method} ${path}${target} HTTP/1.1\r\nhost: x\r\n${authorization()}${lines}\r\n${body}`);

describe('a request to a bot', () => {
  it('reaches the bot without forged values of headers that only the service may set', async () => {
    const response = await fetch(
      sessionUrl(service, 'target', sessionId, '/echo'),
      createBearerTokenHeaders(service.publicKey, forged),
    );
    const { rawHeaders } = (await response.json()) as { rawHeaders: string[] };
    expect(rawHeaders).not.toContain('forged');
    const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(names.filter((name) => name.endsWith('session-id')).sort()).toEqual(['x-daily-session-id', 'x-session-id']);
    expect(names).not.toContain('authorization');
  });

  it.each(['session proxy', 'address of the agent'])(
    'is stripped of credentials and forged service headers if it opens a WebSocket through the %s',
    async (way) => {
      const before = (await evaluateJavaScriptInBot(service, 'target', sessionId, 'state.upgrades.length')) as number;
      if (way === 'session proxy') {
        const url = sessionUrl(service, 'target', sessionId, '/socket').replace('http', 'ws');
        const socket = new WebSocket(url, createBearerTokenHeaders(service.publicKey, forged));
        await once(socket, 'open');
        const upgrades = (await evaluateJavaScriptInBot(service, 'target', sessionId, 'state.upgrades')) as object[];
        expect(JSON.stringify(upgrades.slice(before))).not.toContain('forged');
        expect(JSON.stringify(upgrades.slice(before))).not.toContain(service.publicKey);
        socket.close();
        return;
      }
      const made = await service.publicClient.startSession({
        params: { agentName: 'target' },
        body: { transport: 'websocket' },
      });
      const socket = new WebSocket(`${made.wsUrl}?token=${made.token}`, { headers: forged });
      await once(socket, 'open');
      const upgrades = (await evaluateJavaScriptInBot(
        service,
        'target',
        made.sessionId ?? '',
        'state.upgrades',
      )) as object[];
      expect(upgrades).toHaveLength(1);
      expect(JSON.stringify(upgrades)).not.toContain('forged');
      expect(JSON.stringify(upgrades)).not.toContain(made.token);
      socket.close();
    },
  );

  it('reaches the bot without hop-by-hop headers, both standard headers and headers named in Connection', async () => {
    const answer = await raw(
      'GET',
      '/echo',
      'connection: close, X-Mine, x-session-id\r\nx-mine: 1\r\nkeep-alive: 5\r\nte: trailers\r\nproxy-authorization: b\r\nx-kept: 2\r\n',
    );
    const { headers } = JSON.parse(answer.slice(answer.indexOf('{'))) as { headers: Record<string, string> };
    const ofService = [
      'x-daily-session-id',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-session-id',
    ];
    expect(Object.keys(headers).sort()).toEqual(['connection', 'host', ...ofService, 'x-kept'].sort());
    expect(headers['x-session-id']).toBe(sessionId);
    expect(headers['host']).toBe('localhost');
  });

  it.each([
    [
      'a length and a coding at once',
      'content-length: 4\r\ntransfer-encoding: chunked\r\n',
      '0\r\n\r\nGET /bot HTTP/1.1\r\n\r\n',
    ],
    ['two lengths', 'content-length: 4\r\ncontent-length: 5\r\n', 'abcde'],
    ['two lengths in one line', 'content-length: 4, 5\r\n', 'abcde'],
    ['a length that is no number', 'content-length: +4\r\n', 'abcd'],
    ['a negative length', 'content-length: -4\r\n', 'abcd'],
    ['an unknown transfer coding', 'transfer-encoding: xchunked\r\n', '0\r\n\r\n'],
    ['a transfer coding after chunked', 'transfer-encoding: chunked, identity\r\n', '0\r\n\r\n'],
    ['a space before the colon', 'content-length : 4\r\n', 'abcd'],
    ['a bare carriage return in a value', 'x-a: b\rx-session-id: forged\r\n', ''],
    ['a NUL in a value', 'x-a: b\0c\r\n', ''],
    ['a chunk size that is not a number', 'transfer-encoding: chunked\r\n', 'zz\r\nabc\r\n0\r\n\r\n'],
  ])('is refused with 400 if its head or body is malformed: %s', async (_, lines, body) => {
    const before = await starts();
    const answer = await raw('POST', '/echo', `${lines}`, body);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).not.toContain('HTTP/1.1 200');
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ code: '400', error: expect.any(String) });
    expect(await starts()).toBe(before);
  });

  it('cannot forge a service header with a header that is folded over several lines', async () => {
    const answer = await raw('GET', '/echo', 'x-a: b\r\n x-session-id: forged\r\nconnection: close\r\n');
    if (answer.startsWith('HTTP/1.1 400 ')) return;
    const { headers } = JSON.parse(answer.slice(answer.indexOf('{'))) as { headers: Record<string, string> };
    expect(headers['x-session-id']).toBe(sessionId);
  });

  it('does not pass its authorization on to a second request that follows on the same connection', async () => {
    const before = await starts();
    const answer = await sendRawBytes(
      service,
      `POST ${path}/echo HTTP/1.1\r\nhost: x\r\n${authorization()}content-length: 2\r\n\r\nab` +
        `POST ${path}/bot HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`,
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
    expect(await starts()).toBe(before);
  });

  // The forms of reserved paths that parsers of HTTP or of URLs could change before the service compares them.
  it.each([
    '/bot',
    '/x/../bot',
    '//bot',
    '/%2562ot',
    '/bot#x',
    '/x\\..\\bot',
    '/_bot/session?wait=0',
    '/bot%00',
    '/%c0%ae./bot',
  ])('does not reach a path that is reserved for the service: %s', async (target) => {
    const before = await starts();
    for (const method of ['POST', 'GET', 'OPTIONS']) {
      expect([method, await raw(method, target, 'connection: close\r\n')]).toEqual([
        method,
        // Only the service's errors have the field `reason`; the bot's own 404 has none.
        expect.stringMatching(/^HTTP\/1\.1 40[04] [\s\S]*"reason"/),
      ]);
    }
    const upgrade = await raw(
      'GET',
      target,
      'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
    );
    expect(upgrade).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(await starts()).toBe(before);
  });

  it.each(['/echo?q=%25', '/botany', '/robot', '/wsx', '/api/bot', '/pccx', '/100%25', '/a%2Fb', '/%23'])(
    'reaches the bot with an unchanged path: %s',
    async (target) => {
      await evaluateJavaScriptInBot(
        service,
        'target',
        sessionId,
        'state.onRequest = (request, response) => response.end(request.url); true',
      );
      const answer = await raw('GET', target, 'connection: close\r\n');
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).toContain(target);
    },
  );

  it.each(['//elsewhere/bot', '/\\elsewhere/bot', '///elsewhere/bot'])(
    'with the target %s reaches the bot as /elsewhere/bot',
    async (target) => {
      await evaluateJavaScriptInBot(
        service,
        'target',
        sessionId,
        'state.onRequest = (request, response) => response.end(request.url); true',
      );
      expect(await raw('GET', target, 'connection: close\r\n')).toMatch(/\r\n\/elsewhere\/bot$/);
    },
  );
});
