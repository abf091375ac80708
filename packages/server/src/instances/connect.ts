import { connect, type Socket } from 'node:net';
import type { BotAddress } from './address.ts';

/** Milliseconds until a connection to a bot must be established. A machine that vanished does not refuse it. */
const connectTimeoutMs = 3_000;

/** Opens a connection to a bot. If it cannot be established in time, the socket emits an error for which `isConnectError` is true. */
export function connectToBot(address: BotAddress): Socket {
  // Small frames of audio must not wait for acknowledgments.
  const socket = connect('socket' in address ? { path: address.socket } : { ...address, noDelay: true });
  const timeOut = () => {
    if (!socket.connecting) return;
    const message = `no connection within ${connectTimeoutMs / 1000} seconds`;
    socket.destroy(Object.assign(new Error(message), { syscall: 'connect', code: 'ETIMEDOUT' }));
  };
  // After a stall of this process, timers run before the events of connections that were established in time.
  const timer = setTimeout(() => setImmediate(timeOut), connectTimeoutMs);
  for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer));
  return socket;
}

const unreachableCodes: ReadonlySet<unknown> = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH']);

/** Whether the machine of a bot responds to a connection, which the bot may refuse. Always true for a socket of this machine. */
export function isMachineReachable(address: BotAddress): Promise<boolean> {
  if ('socket' in address) return Promise.resolve(true);
  return new Promise((resolve) => {
    const socket = connectToBot(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(!unreachableCodes.has(error.code)));
  });
}

/** Returns options of `request` in `node:http` for a connection of its own. */
export function createRequestOptions(address: BotAddress) {
  return { ...('socket' in address ? {} : address), createConnection: () => connectToBot(address) };
}

/** Whether a request failed because no connection could be established, for example because the connection was refused. */
export function isConnectError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}
