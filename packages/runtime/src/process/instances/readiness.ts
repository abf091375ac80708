import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { InstanceAddress } from '../../runtime.ts';
import { type Listener, listenersOf, readListeners } from '../proc/listeners.ts';

const TRY_MILLISECONDS = 1000;
const FAST_INTERVAL_MILLISECONDS = 10;
const SLOW_INTERVAL_MILLISECONDS = 100;
/**
 * Number of attempts at the fast interval. A small bot is ready after these, and a caller waits for each step of a cold
 * start.
 */
const FAST_TRIES = 50;
const TRIES_PER_SOCKET_SCAN = 10;
const LOOPBACKS = ['127.0.0.1', '::1'];

export type Readiness =
  | { readonly kind: 'ready'; readonly address: InstanceAddress; readonly wide: Listener | null }
  /** Another program listens on the port, so the bot cannot. */
  | { readonly kind: 'port-taken' };

export type ReadinessOptions = {
  readonly port: number;
  readonly pids: () => readonly number[];
  readonly signal: AbortSignal;
  /** Called at each attempt with the reason why the bot is not ready, for the error message after a timeout. */
  readonly onState: (state: string) => void;
};

/**
 * Waits until a process of the instance listens on its port and the bot is ready (docs/bot-contract.md, "Readiness").
 * The bot is ready if `/readyz` responds 200, or responds 404 or 405 because the bot lacks the route. Rejects when
 * aborted.
 */
export async function waitUntilReady(options: ReadinessOptions): Promise<Readiness> {
  for (let tries = 0; ; tries++) {
    options.signal.throwIfAborted();
    // Try a connection first, because it takes a thirtieth of the time of a scan of all sockets. Only a bot on another
    // address needs the scan.
    const isScanDue = tries % TRIES_PER_SOCKET_SCAN === 0 || (await accepts(LOOPBACKS, options.port));
    const listeners = isScanDue ? readListeners().filter(({ port }) => port === options.port) : [];
    const own = listeners.length === 0 ? [] : listenersOf(options.pids(), listeners);
    // Scan twice, because the bot may have forked the listening process after its pids were read and before the sockets
    // were.
    if (own.length === 0 && listeners.length > 0 && isPortTaken(options)) return { kind: 'port-taken' };
    if (own.length === 0) options.onState('it does not listen on the port in the variable PORT');
    for (const listener of own) {
      const status = await probeReadiness(listener.host, options.port, options.signal);
      options.onState(status === null ? 'it does not respond on /readyz' : `it responds ${status} on /readyz`);
      if (status === 200 || status === 404 || status === 405) {
        const wide = own.find(({ loopbackOnly }) => !loopbackOnly) ?? null;
        return { kind: 'ready', address: { host: listener.host, port: options.port }, wide };
      }
    }
    // Poll, because the kernel has no event for a socket that begins to listen.
    const interval = tries < FAST_TRIES ? FAST_INTERVAL_MILLISECONDS : SLOW_INTERVAL_MILLISECONDS;
    await delay(interval, undefined, { signal: options.signal });
  }
}

/** Whether a connection to one of the addresses succeeds. */
async function accepts(hosts: readonly string[], port: number): Promise<boolean> {
  for (const host of hosts) {
    const accepted = await new Promise<boolean>((resolve) => {
      const socket = connect({ host, port });
      const settle = (isAccepted: boolean) => {
        socket.destroy();
        resolve(isAccepted);
      };
      socket.once('connect', () => settle(true));
      socket.on('error', () => settle(false));
      socket.setTimeout(TRY_MILLISECONDS, () => settle(false));
    });
    if (accepted) return true;
  }
  return false;
}

function isPortTaken(options: ReadinessOptions): boolean {
  const listeners = readListeners().filter(({ port }) => port === options.port);
  return listeners.length > 0 && listenersOf(options.pids(), listeners).length === 0;
}

/** Returns the status of `GET /readyz`, or null if no response arrives in time. Does not read the body. */
function probeReadiness(host: string, port: number, signal: AbortSignal): Promise<number | null> {
  return new Promise((resolve) => {
    const probe = request({ host, port, path: '/readyz', agent: false, signal });
    const limit = setTimeout(() => probe.destroy(), TRY_MILLISECONDS);
    const settle = (status: number | null) => {
      clearTimeout(limit);
      resolve(status);
      probe.destroy();
    };
    probe.on('response', (response) => {
      response.on('error', () => undefined);
      settle(response.statusCode ?? null);
    });
    probe.on('error', () => settle(null));
    probe.on('close', () => settle(null));
    probe.end();
  });
}
