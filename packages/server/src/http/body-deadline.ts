import type { IncomingMessage } from 'node:http';
import { failure } from '@bothost/contract';
import { refuseUpgrade } from './failure-response.ts';

const bodyMilliseconds = 60_000;

/**
 * A body of the service's own API comes in this time, or its connection ends with 408: a client that sends it byte by byte
 * must not hold one for ever. Bodies for bots stream for as long as their session, and are not limited.
 */
export function limitBodyTime(incoming: IncomingMessage, requestId: string, milliseconds = bodyMilliseconds): void {
  const { 'content-length': size, 'transfer-encoding': coding } = incoming.headers;
  if (coding === undefined && (size === undefined || size === '0')) return;
  const timer = setTimeout(() => {
    if (!incoming.complete && incoming.socket.writable) {
      refuseUpgrade(incoming.socket, failure('request-too-slow'), requestId);
    }
    incoming.destroy();
  }, milliseconds);
  incoming.once('close', () => clearTimeout(timer));
}
