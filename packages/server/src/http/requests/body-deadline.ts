import type { IncomingMessage } from 'node:http';
import { createApiError } from '@bothost/contract';
import { refuseUpgrade } from './failure-response.ts';

const bodyMs = 60_000;

/**
 * Limits the time for request bodies of the service's API: after `milliseconds`, responds with 408 and closes the
 * connection. Otherwise, a client that sends one byte at a time could hold a connection forever. Bodies for bots may
 * stream as long as their session lasts.
 */
export function limitBodyTime(incoming: IncomingMessage, requestId: string, milliseconds = bodyMs): void {
  const { 'content-length': size, 'transfer-encoding': coding } = incoming.headers;
  if (coding === undefined && (size === undefined || size === '0')) return;
  const timer = setTimeout(() => {
    if (!incoming.complete && incoming.socket.writable) {
      refuseUpgrade(incoming.socket, createApiError('request-too-slow'), requestId);
    }
    incoming.destroy();
  }, milliseconds);
  incoming.once('close', () => clearTimeout(timer));
}
