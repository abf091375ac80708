import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type ApiError,
  apiErrorDefinitions,
  createApiError,
  createErrorBody,
  retryAfterHeaderSeconds,
} from '@bothost/contract';

/** The response header with the id of a request, which the log of the service has, too. */
export const requestIdHeader = 'x-request-id';

/** Maps any error to a documented failure. An unknown error becomes a 500 without details. */
export type FailureMapper = (error: unknown) => ApiError;

/** Returns response headers that depend on the failure, such as `Retry-After`. */
export function createFailureHeaders(error: ApiError): OutgoingHttpHeaders {
  const busy = error.status === 429 || error.status === 503;
  return {
    ...(busy ? { 'retry-after': String(retryAfterHeaderSeconds) } : {}),
    ...(error.status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(error.status === 426 ? { upgrade: 'websocket' } : {}),
  };
}

export function createBodyTooLargeError(limitBytes: number): ApiError {
  const message = `The request body is too large. The limit is ${limitBytes} bytes.`;
  return createApiError('body-too-large', { message });
}

/** Responds to a `node:http` request with a failure. If a response has already started, aborts the response. */
export function sendFailure(
  response: ServerResponse,
  error: ApiError,
  requestId: string,
  headers: OutgoingHttpHeaders = {},
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = JSON.stringify(createErrorBody(error, requestId));
  response.writeHead(error.status, {
    ...createFailureHeaders(error),
    ...headers,
    ...createJsonHeaders(body, requestId),
  });
  response.end(body);
}

/** Writes a failure to a raw socket, for a request that is an upgrade or cannot be parsed. */
export function refuseUpgrade(socket: Duplex, error: ApiError, requestId: string): void {
  const body = JSON.stringify(createErrorBody(error, requestId));
  const headers = { ...createFailureHeaders(error), ...createJsonHeaders(body, requestId), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${statusText(error)}\r\n${lines.join('')}\r\n${body}`);
}

function statusText(error: ApiError): string {
  return Object.hasOwn(apiErrorDefinitions, error.reason) ? error.reason : 'failure';
}

export function createJsonHeaders(body: string, requestId: string): OutgoingHttpHeaders {
  return {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': 'no-store',
    [requestIdHeader]: requestId,
  };
}
