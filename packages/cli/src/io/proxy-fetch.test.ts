import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEnvironmentVariableSettings } from '../config.ts';
import { ProxyConnectionError } from './proxy-connection-error.ts';
import { createProxyFetch } from './proxy-fetch.ts';

let service: Server;
let proxy: Server;
/** The targets that the proxy was asked for. */
let asked: string[];
const portOf = (server: Server) => (server.address() as AddressInfo).port;
const proxyUrl = () => `http://me:secret@127.0.0.1:${portOf(proxy)}`;

beforeEach(async () => {
  asked = [];
  service = createServer(async (incoming, response) => {
    response.setHeader('authorization-seen', String(incoming.headers.authorization));
    for await (const chunk of incoming) response.write(chunk);
    response.end('end');
  });
  // Like squid, the proxy allows tunnels to port 443 only. It forwards every host to the service.
  proxy = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const { pathname } = new URL(incoming.url ?? '');
    const { method, headers } = incoming;
    const onward = request({ port: portOf(service), method, path: pathname, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(onward);
  });
  proxy.on('connect', (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (!incoming.url?.endsWith(':443')) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const onward = connect(portOf(service));
    onward.on('error', () => socket.destroy()).on('connect', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    socket.on('close', () => onward.destroy());
  });
  for (const server of [service, proxy]) await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  for (const server of [service, proxy]) {
    server.closeAllConnections();
    server.close();
  }
});

function proxyFetch(variables: Record<string, string>): typeof fetch {
  const { network } = readEnvironmentVariableSettings(variables);
  return network === null ? fetch : createProxyFetch(network);
}

describe('createProxyFetch', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])(
    'sends requests, with streamed bodies, through the proxy of %s',
    async (name) => {
      const body = new Blob(['part']).stream();
      const response = await proxyFetch({ [name]: proxyUrl() })('http://bots.example.com/v1/x', {
        method: 'POST',
        headers: { authorization: 'Bearer sk_key' },
        body,
        duplex: 'half',
      } as RequestInit);
      expect([response.headers.get('authorization-seen'), await response.text()]).toEqual(['Bearer sk_key', 'partend']);
      expect(asked).toEqual(['POST http://bots.example.com/v1/x']);
    },
  );

  it('opens a tunnel for https, and names the proxy without its password when it fails', async () => {
    const failure = await proxyFetch({ HTTPS_PROXY: proxyUrl() })('https://bots.example.com/').catch((e: unknown) => e);
    expect(asked).toEqual(['CONNECT bots.example.com:443']);
    expect(failure).toBeInstanceOf(ProxyConnectionError);
    expect(String(failure)).toContain(`http://127.0.0.1:${portOf(proxy)}`);
    expect(String(failure)).not.toContain('secret');
  });

  it('uses the proxy of HTTPS_PROXY only for https', async () => {
    const url = `http://127.0.0.1.nip.invalid:${portOf(service)}/`;
    await expect(proxyFetch({ HTTPS_PROXY: proxyUrl() })(url)).rejects.toThrow();
    expect(asked).toEqual([]);
  });

  it.each(['127.0.0.1', 'localhost'])('never uses a proxy for %s', async (host) => {
    const response = await proxyFetch({ HTTP_PROXY: proxyUrl() })(`http://${host}:${portOf(service)}/`);
    expect([await response.text(), asked]).toEqual(['end', []]);
  });

  it.each(['example.com', '.example.com', '*', 'other.org, bots.example.com'])(
    'uses no proxy for a host in NO_PROXY=%s',
    async (noProxy) => {
      const send = proxyFetch({ HTTP_PROXY: proxyUrl(), NO_PROXY: noProxy });
      await expect(send('http://bots.example.com:1/', { signal: AbortSignal.timeout(2_000) })).rejects.toThrow();
      expect(asked).toEqual([]);
    },
  );

  it.each([
    [{ HTTP_PROXY: 'socks5://127.0.0.1:1' }, 'proxy-invalid'],
    [{ HTTPS_PROXY: 'http://:bad:' }, 'proxy-invalid'],
    [{ SSL_CERT_FILE: '/nonexistent/ca.pem' }, 'certificates-unreadable'],
  ])('rejects the settings %j with the reason %s', (variables, reason) => {
    expect(() => proxyFetch(variables as Record<string, string>)).toThrow(expect.objectContaining({ reason }));
  });

  it('is not used if no variable is set', () => {
    expect(proxyFetch({ NO_PROXY: '*', NODE_EXTRA_CA_CERTS: '/x' })).toBe(fetch);
  });
});
