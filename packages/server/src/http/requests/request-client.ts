import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import { isValidHost } from './request-head.ts';

/** The client of a request, as seen through trusted proxies. */
export type RequestClient = {
  readonly address: string;
  /** URL at which the client reached the service, without a trailing slash. */
  readonly serviceUrl: string;
};

/** Trusted proxies: their IP addresses and CIDR ranges, or the number of proxies in front of the service. */
export type TrustedProxies = readonly string[] | number;

/**
 * Returns a function that determines the client's IP address and the URL at which the client reached the service. It reads the
 * headers `X-Forwarded-For`, `-Proto` and `-Host` only if the connection comes from a trusted proxy. If `publicUrl` is set, it
 * is always the URL. Otherwise, the URL comes from the headers of a trusted proxy, or from `ownUrl`.
 */
export function createRequestClientResolver(options: {
  readonly trustedProxies: TrustedProxies;
  readonly publicUrl: string | undefined;
  readonly ownUrl: () => string;
}): (incoming: IncomingMessage) => RequestClient {
  const { publicUrl, ownUrl } = options;
  const isTrusted = trustOf(options.trustedProxies);
  return (incoming) => {
    const peer = incoming.socket.remoteAddress ?? '';
    if (!isTrusted(peer, 0)) return { address: peer, serviceUrl: publicUrl ?? ownUrl() };
    const address = proxyAddr(incoming, isTrusted);
    return {
      address: isIP(address) === 0 ? peer : address,
      serviceUrl: publicUrl ?? forwardedUrl(incoming) ?? ownUrl(),
    };
  };
}

function trustOf(proxies: TrustedProxies): (address: string, hop: number) => boolean {
  if (typeof proxies === 'number') return (_, hop) => hop < proxies;
  return proxies.length === 0 ? () => false : proxyAddr.compile([...proxies]);
}

function forwardedUrl({ headers }: IncomingMessage): string | null {
  const protocol = lastOf(headers['x-forwarded-proto']) ?? 'http';
  const host = lastOf(headers['x-forwarded-host']) ?? headers.host ?? '';
  return /^https?$/.test(protocol) && host !== '' && isValidHost(host) ? `${protocol}://${host}` : null;
}

/** Returns the last value of a header, which the nearest proxy appended. Clients can set the values before it. */
function lastOf(header: string | string[] | undefined): string | undefined {
  return header?.toString().split(',').at(-1)?.trim();
}
