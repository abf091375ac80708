import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isMetadata, isPublicAddress } from './addresses.ts';
import type { RegistryPolicy } from './registry-policy.ts';

/** The addresses of a name; an address is its own. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** A name leads to an address that is not for the service to ask. Its message names no address. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

/** Bytes of one answer's body, and of its headers. */
const answerBytes = 65_536;
const headerBytes = 16_384;

/** As the machine does it. */
export const resolveBySystem: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * Connections for one check. A name is resolved once, all its addresses are looked at, and connected is to these and no
 * others: an answer that turns private at a second look-up is never asked for.
 */
export function guardedAgent(options: {
  readonly policy: Pick<RegistryPolicy, 'listed'>;
  readonly resolve: Resolve;
  readonly timeoutMs: number;
  /** When it is aborted, nothing is connected to any more. */
  readonly signal: AbortSignal;
  /** Certificates to trust, in place of those of Node. */
  readonly ca?: string | undefined;
}): Agent {
  const resolved = new Map<string, Promise<readonly string[]>>();

  function addressesOf(host: string, port: string): Promise<readonly string[]> {
    const at = `${host}:${port}`;
    const known = resolved.get(host) ?? (isIP(host) === 0 ? options.resolve(host) : Promise.resolve([host]));
    resolved.set(host, known);
    return inTime(known).then((addresses) => {
      const isAllowed = (address: string) => {
        if (!options.policy.listed.has(at)) return isPublicAddress(address);
        return isIP(host) !== 0 || !isMetadata(address);
      };
      if (addresses.length === 0 || !addresses.every(isAllowed)) throw new RefusedAddress(at);
      return addresses;
    });
  }

  /** To one of these addresses; the name is for the certificate only. */
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
    return inTime(
      new Promise((resolve, reject) => {
        connect(target, (error, socket) => {
          if (error !== null) return reject(error);
          if (options.signal.aborted) socket.destroy();
          return resolve(socket);
        });
      }),
    );
  }

  /** A request that has no connection yet does not hear of the end itself. */
  async function inTime<T>(work: Promise<T>): Promise<T> {
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
    maxResponseSize: answerBytes,
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
