import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { InstanceAddress } from '../../runtime.ts';
import { type Listener, listenersOf, readListeners } from '../proc/listeners.ts';

const TRY_MILLISECONDS = 1000;
const FIRST_PAUSE_MILLISECONDS = 10;
const LAST_PAUSE_MILLISECONDS = 100;
/** So long it is asked at the fast pace: a small bot is up by then, and each step of a cold start is waited for. */
const FAST_TRIES = 50;
const TRIES_PER_LOOK = 10;
const LOOPBACKS = ['127.0.0.1', '::1'];

export type Readiness =
  | { readonly kind: 'ready'; readonly address: InstanceAddress; readonly wide: Listener | null }
  /** Somebody else listens on the port: the bot can never have it. */
  | { readonly kind: 'foreign' };

export type ReadinessOptions = {
  readonly port: number;
  readonly pids: () => readonly number[];
  readonly signal: AbortSignal;
  /** Told at each try why it is not ready, for the message when time is up. */
  readonly onState: (state: string) => void;
};

/**
 * Waits until one of the instance's own processes listens on its port and the bot says that it is ready (bot contract
 * 2.5): 200 on `/readyz`; 404 and 405 mean that it has no such route and is ready as it listens. Rejects when aborted.
 */
export async function waitUntilReady(options: ReadinessOptions): Promise<Readiness> {
  for (let tries = 0; ; tries++) {
    options.signal.throwIfAborted();
    // A connection costs a thirtieth of a look at all sockets, which must find a bot on another address only.
    const look = tries % TRIES_PER_LOOK === 0 || (await accepts(LOOPBACKS, options.port));
    const listeners = look ? readListeners().filter(({ port }) => port === options.port) : [];
    const own = listeners.length === 0 ? [] : listenersOf(options.pids(), listeners);
    // A foreign one is looked at twice, as the process that holds it may have been born between the two looks.
    if (own.length === 0 && listeners.length > 0 && stillForeign(options)) return { kind: 'foreign' };
    if (own.length === 0) options.onState('nothing listens on its port, which the variable PORT names');
    for (const listener of own) {
      const status = await askReady(listener.host, options.port, options.signal);
      options.onState(status === null ? 'it does not answer on /readyz' : `it answers ${status} on /readyz`);
      if (status === 200 || status === 404 || status === 405) {
        const wide = own.find(({ loopbackOnly }) => !loopbackOnly) ?? null;
        return { kind: 'ready', address: { host: listener.host, port: options.port }, wide };
      }
    }
    // The kernel tells nobody when another process begins to listen.
    const pause = tries < FAST_TRIES ? FIRST_PAUSE_MILLISECONDS : LAST_PAUSE_MILLISECONDS;
    await delay(pause, undefined, { signal: options.signal });
  }
}

/** Whether somebody takes connections at one of the addresses. */
async function accepts(hosts: readonly string[], port: number): Promise<boolean> {
  for (const host of hosts) {
    const accepted = await new Promise<boolean>((resolve) => {
      const socket = connect({ host, port });
      const answer = (outcome: boolean) => {
        socket.destroy();
        resolve(outcome);
      };
      socket.once('connect', () => answer(true));
      socket.on('error', () => answer(false));
      socket.setTimeout(TRY_MILLISECONDS, () => answer(false));
    });
    if (accepted) return true;
  }
  return false;
}

function stillForeign(options: ReadinessOptions): boolean {
  const listeners = readListeners().filter(({ port }) => port === options.port);
  return listeners.length > 0 && listenersOf(options.pids(), listeners).length === 0;
}

/** The status of `GET /readyz`; null without an answer in time. The body, however long, is not read. */
function askReady(host: string, port: number, signal: AbortSignal): Promise<number | null> {
  return new Promise((resolve) => {
    const asked = request({ host, port, path: '/readyz', agent: false, signal });
    const limit = setTimeout(() => asked.destroy(), TRY_MILLISECONDS);
    const answer = (status: number | null) => {
      clearTimeout(limit);
      resolve(status);
      asked.destroy();
    };
    asked.on('response', (response) => {
      response.on('error', () => undefined);
      answer(response.statusCode ?? null);
    });
    asked.on('error', () => answer(null));
    asked.on('close', () => answer(null));
    asked.end();
  });
}
