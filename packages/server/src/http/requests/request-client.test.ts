import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type BotProjectDirectory, writeBot } from '../../../test/support/bots.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
  waitUntilAgentIdle,
} from '../../../test/support/client.ts';
import { startTestServer, type TestServer } from '../../../test/support/test-server.ts';
import { createRequestClientResolver, type TrustedProxies } from './request-client.ts';

const forwarded = {
  'x-forwarded-for': '203.0.113.9',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'bots.example.com',
};

describe('createRequestClientResolver', () => {
  const own = { address: '10.0.0.2', serviceUrl: 'http://127.0.0.1:7420' };
  function resolveClient(
    trustedProxies: TrustedProxies,
    headers: Readonly<Record<string, string>>,
    options: { publicUrl?: string; peer?: string } = {},
  ) {
    const find = createRequestClientResolver({
      trustedProxies,
      publicUrl: options.publicUrl,
      ownUrl: () => own.serviceUrl,
    });
    return find({ headers, socket: { remoteAddress: options.peer ?? own.address } } as never);
  }

  it.each<[string, TrustedProxies]>([
    ['no trusted proxies', []],
    ['no proxy in front of the service', 0],
    ['a different trusted proxy', ['10.0.0.3']],
  ])('ignores X-Forwarded headers if configured with %s', (_, trustedProxies) => {
    expect(resolveClient(trustedProxies, { host: 'evil.example', ...forwarded })).toEqual(own);
  });

  it.each<[string, TrustedProxies, string]>([
    ['the address of the proxy', ['10.0.0.2'], '10.0.0.2'],
    ["the proxy's address range", ['loopback', '10.0.0.0/8'], '10.0.0.2'],
    ["the proxy's range, as an IPv4 address in IPv6", ['10.0.0.0/8'], '::ffff:10.0.0.2'],
    ['the number of proxies', 1, '10.0.0.2'],
  ])('trusts X-Forwarded headers if configured with %s', (_, trustedProxies, peer) => {
    const client = { address: '203.0.113.9', serviceUrl: 'https://bots.example.com' };
    expect(resolveClient(trustedProxies, { host: 'internal:7420', ...forwarded }, { peer })).toEqual(client);
  });

  it.each<[TrustedProxies, string, string]>([
    [1, '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    [2, '198.51.100.1, 203.0.113.9', '198.51.100.1'],
    [['10.0.0.0/8'], '198.51.100.1, 203.0.113.9, 10.0.0.7', '203.0.113.9'],
    [1, 'unknown', '10.0.0.2'],
  ])(
    'with the trusted proxies %j and X-Forwarded-For: %s, returns the client address %s',
    (trustedProxies, addresses, address) => {
      expect(resolveClient(trustedProxies, { 'x-forwarded-for': addresses }).address).toBe(address);
    },
  );

  it.each([
    [{ host: 'bots.example.com' }, 'http://bots.example.com'],
    [{ host: 'bots.example.com', 'x-forwarded-proto': 'https' }, 'https://bots.example.com'],
    [{ ...forwarded, 'x-forwarded-host': 'evil.example, bots.example.com' }, 'https://bots.example.com'],
    [{ ...forwarded, 'x-forwarded-proto': 'javascript' }, own.serviceUrl],
    [{ ...forwarded, 'x-forwarded-host': 'a/b"' }, own.serviceUrl],
    [{}, own.serviceUrl],
  ])('for the headers %j, returns the service URL %s', (headers, serviceUrl) => {
    expect(resolveClient(1, headers).serviceUrl).toBe(serviceUrl);
  });

  it('prefers the configured public URL to the X-Forwarded headers', () => {
    const publicUrl = 'https://public.example';
    expect(resolveClient(1, forwarded, { publicUrl }).serviceUrl).toBe(publicUrl);
    expect(resolveClient([], forwarded, { publicUrl }).serviceUrl).toBe(publicUrl);
  });
});

describe.each([
  ['trusts', 'loopback'],
  ['does not trust', '192.0.2.1'],
])('a service that %s the proxy in front of it', (_, proxies) => {
  const isTrusted = proxies === 'loopback';
  let service: TestServer;
  let bot: BotProjectDirectory;
  let serviceUrl: string;
  let address: string;

  beforeAll(async () => {
    bot = await writeBot('behind', { maxAgents: 2 });
    service = await startTestServer({ agents: [bot.path], environment: { BOTHOST_TRUSTED_PROXIES: proxies } });
    serviceUrl = isTrusted ? 'https://bots.example.com' : service.url;
    address = isTrusted ? '203.0.113.9' : '127.0.0.1';
  });
  afterAll(async () => {
    await service.close();
    await bot.remove();
  });

  const ask = (path: string, key: string, body?: object) =>
    fetch(service.url + path, {
      ...createBearerTokenHeaders(key, forwarded),
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });

  it('uses the same service URL in start responses, upload URLs, OpenAPI document and security policy', async () => {
    const started = await ask('/v1/public/behind/start', service.publicKey, { transport: 'websocket' });
    const { wsUrl, sessionId } = (await started.json()) as { wsUrl: string; sessionId: string };
    await stopAgentSession(service, 'behind', sessionId);
    const upload = await ask('/v1/builds/upload-url', service.privateKey, { region: 'us-west' });
    const { uploadUrl } = (await upload.json()) as { uploadUrl: string };
    const { servers } = (await (await ask('/v1/openapi.json', '')).json()) as { servers: unknown };
    const policy = (await ask('/talk/behind', '')).headers.get('content-security-policy');
    const socketUrl = serviceUrl.replace('http', 'ws');
    expect([new URL(wsUrl).origin, new URL(uploadUrl).origin]).toEqual([socketUrl, serviceUrl]);
    expect(servers).toEqual([{ url: serviceUrl }]);
    expect(policy).toContain(`connect-src 'self' ${socketUrl};`);
  });

  it('records the address of the client in the audit log', async () => {
    await ask('/v1/keys', service.privateKey, { name: 'audited', kind: 'public' });
    const { entries } = await service.client.listAuditEntries({});
    expect(entries[0]).toMatchObject({ action: 'keys.create', address });
  });

  it('sends the client address and the service URL to bots, with HTTP requests and WebSockets', async () => {
    const expected = {
      'x-forwarded-for': address,
      'x-forwarded-proto': serviceUrl.split(':')[0],
      'x-forwarded-host': new URL(serviceUrl).host,
    };
    const id = await startAgentSession(service, 'behind');
    const echo = await fetch(
      sessionUrl(service, 'behind', id, '/echo'),
      createBearerTokenHeaders(service.publicKey, forwarded),
    );
    expect(await echo.json()).toMatchObject({ headers: expected });
    const socketUrl = sessionUrl(service, 'behind', id, '/socket').replace('http', 'ws');
    await opened(new WebSocket(socketUrl, createBearerTokenHeaders(service.publicKey, forwarded)));
    const { token = '', sessionId = '' } = await service.publicClient.startSession({
      params: { agentName: 'behind' },
      body: { transport: 'websocket' },
    });
    const agentUrl = `${service.url.replace('http', 'ws')}/ws/generic/behind.${service.organization}`;
    const agentSocket = await opened(new WebSocket(agentUrl, createBearerTokenHeaders(token, forwarded)));
    const upgradesOf = (session: string) =>
      evaluateJavaScriptInBot<object[]>(service, 'behind', session, 'state.upgrades');
    expect(await upgradesOf(id)).toMatchObject([{ headers: expected }]);
    expect(await upgradesOf(sessionId)).toMatchObject([{ headers: expected }]);
    agentSocket.close();
    await stopAgentSession(service, 'behind', id);
    await waitUntilAgentIdle(service, 'behind');
  });
});

function opened(socket: WebSocket): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
  });
}
