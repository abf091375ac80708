import { once } from 'node:events';
import { type ClientRequest, IncomingMessage, request } from 'node:http';
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { maxProxyBodyBytes, proxyHttpMethods } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sendRawBytes,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
  waitUntilAgentIdle,
} from '../../../test/support/client.ts';
import { useDatabase, useTestServer } from '../../../test/support/use-test-server.ts';
import { createSessionAddressRegistry } from '../../sessions/session-address-registry.ts';
import { locateSession } from './session-proxy.ts';

const megabyte = 1_048_576;

const service = await useTestServer({ bots: { target: {} } });
const db = await useDatabase(service);
const id = await startAgentSession(service, 'target');
await evaluateJavaScriptInBot(service, 'target', id, 'true');

const order = (code: string) => evaluateJavaScriptInBot(service, 'target', id, code);
const url = (path: string) => sessionUrl(service, 'target', id, path);
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): ClientRequest =>
  request(url(path), { method, headers: { authorization: `Bearer ${service.publicKey}`, ...headers } });
async function answerOf(sent: ClientRequest): Promise<IncomingMessage> {
  const [answer] = await once(sent, 'response');
  return answer as IncomingMessage;
}
/** Waits until a number stops increasing, and returns it. */
async function settled(read: () => number | Promise<unknown>): Promise<number> {
  let before = -1;
  const stands = async () => {
    const now = Number(await read());
    const same = now === before;
    before = now;
    return same;
  };
  await expect.poll(stands, { interval: 200 }).toBe(true);
  return before;
}

describe('the session proxy', () => {
  it.each(proxyHttpMethods)('forwards method, path, query, body and status of a %s request', async (method) => {
    await order(
      `state.seen = null; state.onRequest = async (request, response) => {
        state.seen = { method: request.method, url: request.url, body: await textOf(request), type: request.headers['content-type'] };
        response.writeHead(207, 'Odd', { 'content-type': 'text/odd', 'x-own': 'a', etag: '"1"' }); response.end('done');
      }; true`,
    );
    const body = method === 'GET' || method === 'HEAD' ? '' : 'grüße\0';
    const response = await fetch(url('/a%20b/c?d=%26&e'), {
      method,
      headers: { authorization: `Bearer ${service.publicKey}`, 'content-type': 'x/y' },
      ...(body === '' ? {} : { body }),
    });
    expect([response.status, response.headers.get('content-type'), response.headers.get('etag')]).toEqual([
      207,
      'text/odd',
      '"1"',
    ]);
    expect(await response.text()).toBe(method === 'HEAD' ? '' : 'done');
    expect(await order('state.seen')).toEqual({ method, url: '/a%20b/c?d=%26&e', body, type: 'x/y' });
  });

  it.each([
    ['304 with a length', 'GET', '304 Not Modified', 'etag: "a"\r\ncontent-length: 1234', ''],
    ['304 with a length for a POST', 'POST', '304 Not Modified', 'content-length: 7', ''],
    ['304 in chunks', 'GET', '304 Not Modified', 'etag: "a"\r\ntransfer-encoding: chunked', ''],
    ['304 without a length', 'GET', '304 Not Modified', 'etag: "a"', ''],
    ['204 with a length', 'GET', '204 No Content', 'x-a: b\r\ncontent-length: 3', ''],
    ['204 with the length 0', 'DELETE', '204 No Content', 'content-length: 0', ''],
    ['204 without a length', 'OPTIONS', '204 No Content', 'x-a: b', ''],
    ['200 with the length 0', 'GET', '200 OK', 'content-length: 0', ''],
    ['205 with the length 0', 'GET', '205 Reset Content', 'content-length: 0', ''],
    ['404 with a length for HEAD', 'HEAD', '404 Not Found', 'content-length: 1234', ''],
    ['200 in chunks for HEAD', 'HEAD', '200 OK', 'transfer-encoding: chunked', ''],
    ['304 with a length for HEAD', 'HEAD', '304 Not Modified', 'content-length: 1234', ''],
    ['204 with a length for HEAD', 'HEAD', '204 No Content', 'content-length: 1234', ''],
    [
      '103, then 304 with a length',
      'GET',
      '304 Not Modified',
      'content-length: 1234',
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
    ],
    ['102 with a length', 'GET', '304 Not Modified', 'x-a: b', 'HTTP/1.1 102 Processing\r\ncontent-length: 9\r\n\r\n'],
  ])("forwards the bot's response without content: %s", async (_, method, status, headers, interim) => {
    await order(
      `state.onRequest = (request) => request.socket.end(${JSON.stringify(`${interim}HTTP/1.1 ${status}\r\nconnection: close\r\n${headers}\r\n\r\n`)}); true`,
    );
    const head = `HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.publicKey}\r\n`;
    const first = `${method} ${new URL(url('/x')).pathname} ${head}content-length: 0\r\n\r\n`;
    const next = `GET ${new URL(url('/echo')).pathname} ${head}connection: close\r\n\r\n`;
    const [answer = '', body = '', ...rest] = (await sendRawBytes(service, first + next)).split('\r\n\r\n');
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
    // The connection stays usable: the response to the next request follows directly.
    expect([body.split('\r\n')[0], rest.length]).toEqual(['HTTP/1.1 200 OK', 1]);
    for (const line of headers.split('\r\n')) {
      const isLengthOf204 = status.startsWith('204') && line.startsWith('content-length');
      if (isLengthOf204) expect(answer).not.toContain('content-length');
      else if (!line.startsWith('transfer-encoding')) expect(answer.toLowerCase()).toContain(line);
    }
  });

  it.each([
    ['Latin-1', 'caf\xe9 \xff\x80'],
    ['UTF-8', Buffer.from('naïve 🦜 你').toString('latin1')],
    ['a tab', 'a\tb'],
  ])('forwards header values in %s byte for byte in both directions', async (_, value) => {
    const raw = `HTTP/1.1 200 ${value}\r\nconnection: close\r\nx-own: ${value}\r\nx-own: second\r\ncontent-length: 0\r\n\r\n`;
    await order(
      `state.seen = null; state.onRequest = (request) => { state.seen = request.headers['x-asked']; request.socket.end(${JSON.stringify(raw)}, 'latin1'); }; true`,
    );
    const answer = await sendRawBytes(
      service,
      `GET ${new URL(url('/x')).pathname} HTTP/1.1\r\nhost: x\r\nx-asked: ${value}\r\nauthorization: Bearer ${service.publicKey}\r\nconnection: close\r\n\r\n`,
    );
    expect(answer).toContain(`\r\nx-own: ${value}\r\nx-own: second\r\n`);
    expect(await order('state.seen')).toBe(value);
  });

  it("exposes the bot's headers to pages of all origins, and keeps their values", async () => {
    await order(
      `state.onRequest = (request, response) => { response.writeHead(200, ['x-own', 'a', 'x-own', 'b', 'vary', 'accept', 'access-control-expose-headers', 'x-other']); response.end(); }; true`,
    );
    const sent = ask('/x', { origin: 'https://app.example.com' });
    sent.end();
    const { headers } = await answerOf(sent);
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': '*',
      'x-own': 'a, b',
      vary: 'accept',
    });
  });

  it('rejects an unsupported method with 405', async () => {
    const answer = await sendRawBytes(
      service,
      `PROPFIND ${new URL(url('/x')).pathname} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.publicKey}\r\nconnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 405 [\s\S]*"method-not-allowed"/);
  });

  it('streams in both directions at the same time', async () => {
    await order('state.onRequest = (request, response) => { response.writeHead(200); request.pipe(response); }; true');
    const sent = ask('/pipe', {}, 'POST');
    sent.write('first');
    const answer = await answerOf(sent);
    expect(String((await once(answer, 'data'))[0])).toBe('first');
    sent.write('second');
    expect(String((await once(answer, 'data'))[0])).toBe('second');
    sent.end('last');
    expect(await text(answer)).toBe('last');
  });

  it('limits memory use if the client does not read', async () => {
    await order(
      `state.pushed = 0; state.onRequest = (request, response) => {
        const block = Buffer.alloc(${megabyte});
        const push = () => { while (state.pushed < 160) { state.pushed += 1; if (!response.write(block)) return response.once('drain', push); } response.end(); };
        push();
      }; true`,
    );
    const sent = ask('/large');
    sent.end();
    const answer = await answerOf(sent);
    expect(await settled(() => order('state.pushed'))).toBeLessThan(64);
    let received = 0;
    for await (const chunk of answer) received += (chunk as Buffer).length;
    expect(received).toBe(160 * megabyte);
  });

  it('limits memory use if the bot does not read', async () => {
    await order(
      'state.onRequest = (request, response) => { state.held = request; state.answer = response; request.pause(); }; true',
    );
    const sent = ask('/upload', {}, 'POST');
    const block = Buffer.alloc(megabyte);
    let pushed = 0;
    const push = () => {
      while (pushed < 160) {
        pushed += 1;
        if (!sent.write(block)) return void sent.once('drain', push);
      }
      sent.end();
    };
    push();
    expect(await settled(() => pushed)).toBeLessThan(64);
    await order(
      'state.size = 0; state.held.on("data", (chunk) => { state.size += chunk.length }).on("end", () => state.answer.end(String(state.size))).resume(); true',
    );
    expect(await text(await answerOf(sent))).toBe(String(160 * megabyte));
  });

  it('accepts a Content-Length of 64 MB and rejects a larger one without a request to the bot', async () => {
    await order(
      `state.reached = 0; state.onRequest = async (request, response) => { state.reached += 1; let size = 0; for await (const chunk of request) size += chunk.length; response.end(String(size)); }; true`,
    );
    const fits = ask('/upload', { 'content-length': String(maxProxyBodyBytes) }, 'PUT');
    fits.end(Buffer.alloc(maxProxyBodyBytes));
    expect(await text(await answerOf(fits))).toBe(String(maxProxyBodyBytes));
    const large = ask('/upload', { 'content-length': String(maxProxyBodyBytes + 1) }, 'PUT');
    large.on('error', () => undefined);
    large.flushHeaders();
    const answer = await answerOf(large);
    expect(answer.statusCode).toBe(413);
    expect(JSON.parse(await text(answer))).toMatchObject({ reason: 'body-too-large', code: '413' });
    expect(await order('state.reached')).toBe(1);
  });

  it('drops cookies, CORS headers and content security policies of the bot', async () => {
    await order(
      `state.onRequest = (request, response) => { response.writeHead(200, { 'set-cookie': 'a=b', 'access-control-allow-origin': 'https://bot.example',
        'access-control-allow-credentials': 'true', 'content-security-policy': "default-src *", 'transfer-encoding': 'chunked', 'x-fine': '1' }); response.end('x'); }; true`,
    );
    const { headers } = await fetch(
      url('/page'),
      createBearerTokenHeaders(service.publicKey, { origin: 'https://page.example' }),
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'x-fine': '1',
    });
    expect(headers.has('set-cookie')).toBe(false);
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('holds requests until the bot has started', async () => {
    const cold = await startAgentSession(service, 'target');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        fetch(sessionUrl(service, 'target', cold, '/echo'), createBearerTokenHeaders(service.publicKey)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    await stopAgentSession(service, 'target', cold);
    await expect
      .poll(
        async () =>
          (await fetch(sessionUrl(service, 'target', cold, '/echo'), createBearerTokenHeaders(service.publicKey)))
            .status,
      )
      .toBe(404);
  });

  describe('for pages of another origin', () => {
    const origin = 'https://page.example';
    const asking = {
      origin,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization, x-a',
    };

    it.each(['/echo', '/api/offer', '/bot', ''])(
      'answers preflights without a key for the path "%s" of a bot',
      async (path) => {
        for (const target of [
          url(path),
          `${service.url}/v1/public/target/start`,
          `${service.url}/v1/public/nobody/start`,
        ]) {
          const response = await fetch(target, { method: 'OPTIONS', headers: asking });
          expect([target, response.status, await response.text()]).toEqual([target, 204, '']);
          expect(Object.fromEntries(response.headers)).toMatchObject({
            'access-control-allow-origin': '*',
            'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS, HEAD',
            'access-control-allow-headers': 'authorization, x-a',
          });
        }
      },
    );

    it('adds CORS headers to every error response, so that these pages can read the error', async () => {
      const noKey = { headers: { origin } };
      const keyed = createBearerTokenHeaders(service.publicKey, { origin });
      const failures: [string, RequestInit, number][] = [
        [url('/echo'), noKey, 401],
        [url('/bot'), keyed, 404],
        [sessionUrl(service, 'target', 'no-uuid', '/x'), keyed, 404],
        [url('/echo').replace('/echo', '/%zz'), keyed, 404],
        [`${service.url}/v1/public/target/start`, { method: 'POST', ...noKey }, 401],
        [`${service.url}/v1/public/nobody/start`, { method: 'POST', ...keyed }, 404],
        [`${service.url}/v1/public/target/start`, { method: 'POST', body: '{', ...keyed }, 400],
        [`${service.url}/v1/public/target/start`, { method: 'POST', body: ' '.repeat(1_100_000), ...keyed }, 413],
        [`${service.url}/v1/public/target/start`, keyed, 405],
        [`${service.url}/v1/public/%zz`, keyed, 404],
        [`${service.url}/v1/public/none`, keyed, 404],
      ];
      for (const [target, init, status] of failures) {
        const response = await fetch(target, init);
        const { error, info } = (await response.json()) as Record<string, string>;
        expect([target, response.status, response.headers.get('access-control-allow-origin'), info]).toEqual([
          target,
          status,
          '*',
          error,
        ]);
      }
    });

    it('sends no CORS headers on the private API', async () => {
      const { headers } = await fetch(
        `${service.url}/v1/agents`,
        createBearerTokenHeaders(service.privateKey, { origin }),
      );
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    });
  });

  it('leaves the agent without active sessions after the session is stopped', async () => {
    await stopAgentSession(service, 'target', id);
    await waitUntilAgentIdle(service, 'target');
  });
});

describe('locateSession', () => {
  it('fails with bot-not-ready when the bot is not ready in time', async () => {
    const host = { id: 'host', region: 'us-west' };
    const sessionAddresses = createSessionAddressRegistry({ db, host });
    const session = { sessionId: 'session', organizationId: 'organization', agentName: 'target' };
    sessionAddresses.expect({ ...session, instanceId: null, address: null });
    const path = { ...session, target: '/', reserved: false };
    const incoming = new IncomingMessage(new Socket());
    await expect(locateSession({ sessionAddresses }, incoming, path, 'organization', 1)).rejects.toMatchObject({
      reason: 'bot-not-ready',
      status: 504,
    });
  });
});
