import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { InstanceAddress } from '../../runtime.ts';
import { filterListenersByProcess, type Listener, readListeners } from '../proc/listeners.ts';

const tryMs = 1000;
const fastIntervalMs = 10;
const slowIntervalMs = 100;
/** Number of readiness checks at the short interval. Most small bots become ready during these checks, while a caller waits. */
const fastTries = 50;
const triesPerScan = 50;
const loopbacks = ['127.0.0.1', '::1'];

export type Readiness =
  | { readonly kind: 'ready'; readonly address: InstanceAddress; readonly wide: Listener | null }
  | { readonly kind: 'port-taken' };

export type ReadinessOptions = {
  readonly port: number;
  /** Returns the path of the bot's Unix socket, or null until the bot has bound the socket. */
  readonly socket: () => string | null;
  readonly pids: () => readonly number[];
  readonly signal: AbortSignal;
  /** Called at each attempt with the reason why the bot is not ready, for the error message after a timeout. */
  readonly onState: (state: string) => void;
};

/** Waits for readiness (docs/bot-contract.md): `/readyz` responds 200, or 404 or 405 without the route. Rejects when aborted. */
export async function waitUntilReady(options: ReadinessOptions): Promise<Readiness> {
  for (let tries = 0; ; tries++) {
    options.signal.throwIfAborted();
    const socket = options.socket();
    if (socket !== null && (await isReady({ socket }, options))) {
      return { kind: 'ready', address: { socket }, wide: null };
    }
    // First try to connect, which is 30 times as fast as a scan of all sockets. Only the scan finds a bot that listens on another
    // address.
    const isScanDue =
      options.port !== 0 && ((tries + 1) % triesPerScan === 0 || (await accepts(loopbacks, options.port)));
    const listeners = isScanDue ? readListeners().filter(({ port }) => port === options.port) : [];
    const own = listeners.length === 0 ? [] : filterListenersByProcess(options.pids(), listeners);
    // Scan twice: the bot may have forked the listening process after its pids were read.
    if (own.length === 0 && listeners.length > 0 && isPortTaken(options)) return { kind: 'port-taken' };
    if (own.length === 0 && socket === null) options.onState(describeSilence(options));
    for (const listener of own) {
      const address = { host: listener.host, port: options.port };
      if (!(await isReady(address, options))) continue;
      return { kind: 'ready', address, wide: own.find(({ loopbackOnly }) => !loopbackOnly) ?? null };
    }
    // Poll, because the kernel has no event for a socket that begins to listen.
    const interval = tries < fastTries ? fastIntervalMs : slowIntervalMs;
    await delay(interval, undefined, { signal: options.signal });
  }
}

function describeSilence({ port }: ReadinessOptions): string {
  const socket = 'it does not listen on the Unix socket in the variable BOT_SOCKET';
  return port === 0 ? socket : `${socket} or on the port in PORT`;
}

async function isReady(address: InstanceAddress, { signal, onState }: ReadinessOptions): Promise<boolean> {
  const status = await probeReadiness(address, signal);
  onState(status === null ? 'it does not respond on /readyz' : `it responds ${status} on /readyz`);
  return status === 200 || status === 404 || status === 405;
}

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
      socket.setTimeout(tryMs, () => settle(false));
    });
    if (accepted) return true;
  }
  return false;
}

function isPortTaken(options: ReadinessOptions): boolean {
  const listeners = readListeners().filter(({ port }) => port === options.port);
  return listeners.length > 0 && filterListenersByProcess(options.pids(), listeners).length === 0;
}

/** Returns the status of `GET /readyz`, or null if no response arrives in time. Does not read the body. */
function probeReadiness(address: InstanceAddress, signal: AbortSignal): Promise<number | null> {
  return new Promise((resolve) => {
    const probe = request({
      ...('socket' in address ? { socketPath: address.socket } : address),
      path: '/readyz',
      agent: false,
      signal,
    });
    const limit = setTimeout(() => probe.destroy(), tryMs);
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
