import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import createConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { isMetadataAddress, isPublicAddress } from './addresses.ts';

export type HostResolver = (host: string) => Promise<readonly string[]>;

/** Thrown if a name resolves to an address that the service must not connect to. The message is only the host and port. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddress';
}

const maxBodyBytes = 65_536;
const maxHeaderBytes = 16_384;

export const resolveHostBySystem: HostResolver = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * Creates an HTTP agent for addresses that a tenant chooses. The agent resolves each host name once, checks all its addresses,
 * and connects only to these addresses. So a later DNS response cannot lead to a private address (DNS rebinding).
 */
export function createSsrfSafeHttpAgent(options: {
  /** The hosts, as `host:port`, whose addresses may be private. */
  readonly privateHosts: ReadonlySet<string>;
  readonly resolve: HostResolver;
  readonly timeoutMs: number;
  /** Once the signal is aborted, no connection is opened. */
  readonly signal: AbortSignal;
  /** CA certificates in PEM format that replace the CA certificates of Node. */
  readonly ca?: string | undefined;
}): Agent {
  const resolved = new Map<string, Promise<readonly string[]>>();

  function addressesOf(host: string, port: string): Promise<readonly string[]> {
    const at = `${host}:${port}`;
    const resolve = () => {
      const known = resolved.get(host) ?? (isIP(host) === 0 ? options.resolve(host) : Promise.resolve([host]));
      resolved.set(host, known);
      return known;
    };
    return unlessAborted(resolve).then((addresses) => {
      const isAllowed = (address: string) => {
        if (!options.privateHosts.has(at)) return isPublicAddress(address);
        return isIP(host) !== 0 || !isMetadataAddress(address);
      };
      if (addresses.length === 0 || !addresses.every(isAllowed)) throw new RefusedAddressError(at);
      return addresses;
    });
  }

  /** Opens a connection to one of `addresses`, which have been checked. Does not resolve the host name again. */
  function openSocket(addresses: readonly string[], target: buildConnector.Options): Promise<Socket> {
    const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first = { address: '', family: 0 }] = pinned;
    const connect = createConnector({
      timeout: options.timeoutMs,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      lookup: (_, { all }, found) => {
        if (all === true) found(null, pinned);
        else found(null, first.address, first.family);
      },
    });
    return unlessAborted(
      () =>
        new Promise((resolve, reject) => {
          connect(target, (error, socket) => {
            if (error !== null) return reject(error);
            if (options.signal.aborted) socket.destroy();
            return resolve(socket);
          });
        }),
    );
  }

  /** Resolves like `work`, but rejects when the signal aborts, which undici ignores until a request has a connection. */
  async function unlessAborted<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = options;
    signal.throwIfAborted();
    let stop = () => {};
    const ended = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
    });
    return Promise.race([work(), ended]).finally(() => signal.removeEventListener('abort', stop));
  }

  return new Agent({
    maxHeaderSize: maxHeaderBytes,
    maxResponseSize: maxBodyBytes,
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
    connect: (target, done) => {
      const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
      addressesOf(host, target.port || (target.protocol === 'http:' ? '80' : '443'))
        .then((addresses) => openSocket(addresses, target))
        .then(
          (socket) => done(null, socket),
          (error: unknown) => done(error instanceof Error ? error : new Error('The connection failed.'), null),
        );
    },
  });
}
