import { once } from 'node:events';
import { ErrorResponse } from '@bothost/contract';
import { afterAll, describe, expect, it } from 'vitest';
import {
  evaluateJavaScriptInBot,
  openTcpSocket,
  sendRawBytes,
  startAgentSession,
  stopAgentSession,
} from '../../../test/support/client.ts';
import { useTestServer } from '../../../test/support/use-test-server.ts';

const service = await useTestServer({ bots: { target: {} } });
const sessionId = await startAgentSession(service, 'target');
await evaluateJavaScriptInBot(service, 'target', sessionId, 'true');
afterAll(async () => {
  await stopAgentSession(service, 'target', sessionId);
});

const session = () => `/v1/public/target/sessions/${sessionId}`;
const authorization = (key: string) => `authorization: Bearer ${key}\r\n`;
const upgrade =
  'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

/** Sends a request head. Returns the response with its error object. */
async function send(requestLine: string, lines: string) {
  const text = await sendRawBytes(service, `${requestLine}\r\n${lines}\r\n`);
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  return { head, error: ErrorResponse.parse(JSON.parse(body)) };
}

describe('a request head', () => {
  const kinds = [
    ['an operation', () => 'GET /v1/agents HTTP/1.1', 'connection: close\r\n'],
    ['the session proxy', () => `GET ${session()}/echo HTTP/1.1`, 'connection: close\r\n'],
    ['an upgrade of the session proxy', () => `GET ${session()}/socket HTTP/1.1`, upgrade],
    ['a WebSocket', () => 'GET /ws/generic/target.test-org HTTP/1.1', upgrade],
  ] as const;
  const problems = [
    ['no Host', '', 400, 'invalid-request'],
    ['two Host headers', 'host: x\r\nHost: x\r\n', 400, 'invalid-request'],
    ['an invalid Host', 'host: a/b\r\n', 400, 'invalid-request'],
    ['a thousand and one lines', `host: x\r\n${'a:\r\n'.repeat(1_001)}`, 431, 'headers-too-large'],
  ] as const;

  it.each(kinds.flatMap((kind) => problems.map((problem) => [...kind, ...problem] as const)))(
    'to %s is rejected if it has no valid Host header or too many header lines',
    async (_, requestLine, closing, __, lines, status, reason) => {
      const { head, error } = await send(requestLine(), `${authorization(service.publicKey)}${lines}${closing}`);
      expect([head.split(' ')[1], error.reason]).toEqual([String(status), reason]);
      expect(head).toContain(`x-request-id: ${error.requestId}`);
    },
  );

  it('with an unsupported Expect header is rejected with 417', async () => {
    const lines = `host: x\r\n${authorization(service.privateKey)}expect: 200-ok\r\nconnection: close\r\n`;
    const { head, error } = await send('GET /v1/agents HTTP/1.1', lines);
    expect([head.split(' ')[1], error.reason]).toEqual(['417', 'expectation-unsupported']);
    expect(head).toContain(`x-request-id: ${error.requestId}`);
  });

  it('for CONNECT is rejected with 501', async () => {
    const { head, error } = await send('CONNECT example.com:443 HTTP/1.1', 'host: example.com:443\r\n');
    expect([head.split(' ')[1], error.reason]).toEqual(['501', 'method-not-implemented']);
    expect(head).toContain(`x-request-id: ${error.requestId}`);
  });

  it('in HTTP/1.0 is accepted without a Host header', async () => {
    expect(await sendRawBytes(service, `GET /healthz HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['an operation', 'GET http://elsewhere.example/v1/regions HTTP/1.1', () => service.privateKey],
    ['the API with an empty path', 'GET http://elsewhere.example HTTP/1.1', () => service.privateKey],
    ['the session proxy', 'GET HTTPS://elsewhere.example:8443/SESSION/echo?a=1 HTTP/1.1', () => service.publicKey],
  ])('with an absolute-form target reaches %s', async (_, requestLine, key) => {
    const lines = `host: x\r\n${authorization(key())}connection: close\r\n\r\n`;
    const answer = await sendRawBytes(service, `${requestLine.replace('/SESSION', session())}\r\n${lines}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    if (requestLine.includes('SESSION')) expect(answer).toContain('"url":"/echo?a=1"');
  });

  it('with an absolute-form target can upgrade to a WebSocket', async () => {
    const socket = await openTcpSocket(service);
    const lines = `host: x\r\n${authorization(service.publicKey)}${upgrade}\r\n`;
    socket.write(`GET http://elsewhere.example${session()}/socket HTTP/1.1\r\n${lines}`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 101 /);
    socket.destroy();
  });
});
