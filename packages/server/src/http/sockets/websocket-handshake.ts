import type { IncomingMessage } from 'node:http';
import { type ApiError, createApiError } from '@bothost/contract';

/** Whether an upgrade request is for a WebSocket. Other protocols would bypass the checks of this service. */
export function isWebSocketUpgrade(incoming: Pick<IncomingMessage, 'headers'>): boolean {
  return incoming.headers.upgrade?.toLowerCase() === 'websocket';
}

/** Returns the error of a client's opening handshake (RFC 6455, section 4.2.1), or null if the handshake is valid. */
export function findHandshakeProblem(incoming: Pick<IncomingMessage, 'method' | 'headers'>): ApiError | null {
  const { 'sec-websocket-key': key = '', 'sec-websocket-version': version } = incoming.headers;
  const isSound = incoming.method === 'GET' && /^[+/0-9A-Za-z]{22}==$/.test(key) && version === '13';
  return isSound
    ? null
    : createApiError('invalid-request', { message: 'The request is not a valid WebSocket handshake (version 13).' });
}
