import type { IncomingMessage } from 'node:http';
import { failure } from '@bothost/contract';
import { refuseUpgrade } from './failure-response.ts';

const bodyMilliseconds = 60_000;

/**
 * Time limit for request bodies of the service's API: 408, and the connection closes. Otherwise a client that sends byte by
 * byte could hold a connection forever. Bodies for bots may stream as long as their session.
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
