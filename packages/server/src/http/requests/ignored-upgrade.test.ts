import { once } from 'node:events';
import { afterAll, describe, expect, it } from 'vitest';
import {
  evaluateJavaScriptInBot,
  openTcpSocket,
  sendRawBytes,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
} from '../../../test/support/client.ts';
import { useTestServer } from '../../../test/support/use-test-server.ts';

const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n';

const service = await useTestServer({ bots: { target: {} } });
const id = await startAgentSession(service, 'target');
await evaluateJavaScriptInBot(service, 'target', id, 'true');
afterAll(async () => {
  await stopAgentSession(service, 'target', id);
});

const send = (method: string, path: string, key: string, body = '') =>
  sendRawBytes(
    service,
    `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n${h2c}content-length: ${body.length}\r\n\r\n${body}`,
  );

describe('a request that offers an upgrade to HTTP/2', () => {
  it('gets an HTTP/1.1 response of the API', async () => {
    expect(await send('GET', '/v1/agents', service.privateKey)).toMatch(/^HTTP\/1\.1 200 [\s\S]*"target"/);
    expect(await send('GET', '/v1/agents', 'wrong')).toMatch(/^HTTP\/1\.1 401 /);
    expect(await send('GET', '/healthz', '')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await send('POST', '/v1/public/target/start', service.publicKey, '{"body": 1}')).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*"body-not-object"/,
    );
  });

  it('gets a response even if its body arrives after its headers', async () => {
    const socket = await openTcpSocket(service);
    socket.write(
      `POST /v1/public/target/start HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.publicKey}\r\n${h2c}content-length: 11\r\n\r\n{"bod`,
    );
    // By now, the service has read the head of the first request, because it has answered a later request on another
    // connection.
    await (await fetch(`${service.url}/healthz`)).text();
    socket.write('y": 1}');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 400 [\s\S]*"body-not-object"/);
    socket.destroy();
  });

  it('is forwarded to the bot without its upgrade headers, except on reserved paths', async () => {
    const path = (text: string) => new URL(sessionUrl(service, 'target', id, text)).pathname;
    const answer = await send('POST', path('/echo'), service.publicKey, 'hello');
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*"body":"hello"/);
    expect(answer).not.toMatch(/h2c|http2-settings/i);
    expect(await send('POST', path('/bot'), service.publicKey, '{}')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await evaluateJavaScriptInBot(service, 'target', id, 'state.starts.length')).toBe(1);
  });
});
