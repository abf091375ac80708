import type { IncomingMessage } from 'node:http';
import { type ApiError, failure } from '@bothost/contract';

/** Whether an upgrade asks for a WebSocket. Any other protocol would carry requests past the checks of this service. */
export function isWebSocket(incoming: Pick<IncomingMessage, 'headers'>): boolean {
  return incoming.headers.upgrade?.toLowerCase() === 'websocket';
}

/** What is wrong with a client's opening handshake (RFC 6455 4.2.1), found before anything is taken for it. */
export function handshakeProblem(incoming: Pick<IncomingMessage, 'method' | 'headers'>): ApiError | null {
  const { 'sec-websocket-key': key = '', 'sec-websocket-version': version } = incoming.headers;
  const isSound = incoming.method === 'GET' && /^[+/0-9A-Za-z]{22}==$/.test(key) && version === '13';
  return isSound ? null : failure('invalid-request', { message: 'This is not a WebSocket handshake of version 13.' });
}
