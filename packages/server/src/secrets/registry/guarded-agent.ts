import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isMetadata, isPublicAddress } from './addresses.ts';
import type { RegistryPolicy } from './registry-policy.ts';

/** Resolves a host name to its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** A name resolves to an address that the service must not connect to. The message contains the name only. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

/** Limits of one response. */
const bodyBytes = 65_536;
const headerBytes = 16_384;

export const resolveBySystem: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * HTTP agent for one check. Resolves a name once, checks all addresses, and connects only to these. So a DNS answer cannot
 * change to a private address after the check (DNS rebinding).
 */
export function guardedAgent(options: {
  readonly policy: Pick<RegistryPolicy, 'listed'>;
  readonly resolve: Resolve;
  readonly timeoutMs: number;
  /** Once it is aborted, no connection is opened. */
  readonly signal: AbortSignal;
  /** CA certificates that replace those of Node. */
  readonly ca?: string | undefined;
}): Agent {
  const resolved = new Map<string, Promise<readonly string[]>>();

  function addressesOf(host: string, port: string): Promise<readonly string[]> {
    const at = `${host}:${port}`;
    const known = resolved.get(host) ?? (isIP(host) === 0 ? options.resolve(host) : Promise.resolve([host]));
    resolved.set(host, known);
    return unlessAborted(known).then((addresses) => {
      const isAllowed = (address: string) => {
        if (!options.policy.listed.has(at)) return isPublicAddress(address);
        return isIP(host) !== 0 || !isMetadata(address);
      };
      if (addresses.length === 0 || !addresses.every(isAllowed)) throw new RefusedAddress(at);
      return addresses;
    });
  }

  /** Connects to one of these addresses; the name is used for the certificate only. */
  function openSocket(addresses: readonly string[], target: buildConnector.Options): Promise<Socket> {
    const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first = { address: '', family: 0 }] = pinned;
    const connect = buildConnector({
      timeout: options.timeoutMs,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      lookup: (_, { all }, found) => {
        if (all === true) found(null, pinned);
        else found(null, first.address, first.family);
      },
    });
    return unlessAborted(
      new Promise((resolve, reject) => {
        connect(target, (error, socket) => {
          if (error !== null) return reject(error);
          if (options.signal.aborted) socket.destroy();
          return resolve(socket);
        });
      }),
    );
  }

  /** Rejects when the signal is aborted: a request without a connection does not watch it. */
  async function unlessAborted<T>(work: Promise<T>): Promise<T> {
    const { signal } = options;
    signal.throwIfAborted();
    let stop = () => {};
    const ended = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
    });
    return Promise.race([work, ended]).finally(() => signal.removeEventListener('abort', stop));
  }

  return new Agent({
    maxHeaderSize: headerBytes,
    maxResponseSize: bodyBytes,
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
    connect: (target, done) => {
      const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
      addressesOf(host, target.port || (target.protocol === 'http:' ? '80' : '443'))
        .then((addresses) => openSocket(addresses, target))
        .then(
          (socket) => done(null, socket),
          (error: unknown) => done(error instanceof Error ? error : new Error('not connected'), null),
        );
    },
  });
}
