import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch, type RequestInit } from 'undici';
import type { NetworkSettings } from '../config.ts';
import { Failure } from '../failure.ts';
import { ProxyConnectionError } from './proxy-connection-error.ts';

/**
 * Creates a `fetch` that uses the proxies and certificates of the environment. Requests to loopback never use a proxy.
 *
 * @throws Failure if a proxy is not a URL or the certificate file cannot be read
 */
export function createProxyFetch(settings: NetworkSettings): typeof globalThis.fetch {
  const ca = readCertificates(settings.certificateFiles);
  const [httpProxy, httpsProxy] = [
    readProxy('HTTP_PROXY', settings.httpProxy),
    readProxy('HTTPS_PROXY', settings.httpsProxy),
  ];
  const connect = ca === null ? {} : { connect: { ca }, requestTls: { ca }, proxyTls: { ca } };
  const direct = new Agent(connect);
  // An empty text keeps undici from reading the variables itself. Without a tunnel, a proxy need not allow CONNECT to port 80.
  const proxied = new EnvHttpProxyAgent({
    ...connect,
    httpProxy: httpProxy?.href ?? '',
    httpsProxy: (httpsProxy ?? httpProxy)?.href ?? '',
    noProxy: settings.noProxy ?? '',
    proxyTunnel: false,
  });

  async function send(input: string | URL | Request, init: globalThis.RequestInit = {}): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : input);
    const isDirect = isLoopback(url.hostname);
    const proxy = url.protocol === 'https:' ? (httpsProxy ?? httpProxy) : httpProxy;
    try {
      return await request(url, init, isDirect ? direct : proxied);
    } catch (error) {
      if (isDirect || proxy === null || init.signal?.aborted === true) throw error;
      throw new ProxyConnectionError(proxy.origin, error);
    }
  }
  return send;
}

/** undici's types differ from those of Node in details that do not matter here. */
async function request(url: URL, init: globalThis.RequestInit, dispatcher: Dispatcher): Promise<Response> {
  return (await fetch(url, { ...(init as unknown as RequestInit), dispatcher })) as unknown as Response;
}

function isLoopback(hostname: string): boolean {
  return /^(?:(?:.*\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/** Accepts a proxy without a scheme, such as `proxy.example.com:3128`, as curl does. */
function readProxy(name: string, text: string | null): URL | null {
  if (text === null) return null;
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (URL.canParse(url) && /^https?:/i.test(url)) return new URL(url);
  const hint = 'Set it to a URL such as http://proxy.example.com:3128, or unset it.';
  throw new Failure('proxy-invalid', `The environment variable ${name} is not the URL of an HTTP proxy.`, hint);
}

/** A certificate file is used in addition to the certificates of Node. */
function readCertificates(files: readonly string[]): string[] | null {
  if (files.length === 0) return null;
  return [
    ...rootCertificates,
    ...files.map((file) => {
      try {
        return readFileSync(file, 'utf8');
      } catch (cause) {
        const hint = 'Check SSL_CERT_FILE and NODE_EXTRA_CA_CERTS.';
        throw new Failure('certificates-unreadable', `The certificate file ${file} cannot be read.`, hint, { cause });
      }
    }),
  ];
}
