import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ApiError, createApiError } from '@bothost/contract';
import { limitBodyTime } from './requests/body-deadline.ts';
import { type CorsPolicy, createPreflightHeaders, isPreflight } from './requests/cors.ts';
import { discardRequestBody } from './requests/discard-request-body.ts';
import { refuseUpgrade, sendFailure } from './requests/failure-response.ts';
import { checkRequestHead } from './requests/request-head.ts';
import { parseSessionPath } from './session-proxy/session-path.ts';
import type { createSessionProxy } from './session-proxy/session-proxy.ts';
import { type createUploadEndpoint, parseUploadPath } from './upload.ts';

type Handler = (incoming: IncomingMessage, response: ServerResponse) => void;

/** Streams requests for bots and uploads, and passes other requests to `handler`, the framework. */
export function createNodeServer(
  cors: CorsPolicy,
  streamed: {
    readonly proxy: ReturnType<typeof createSessionProxy>['handle'];
    readonly uploads: ReturnType<typeof createUploadEndpoint>;
  },
  requestId: (incoming: IncomingMessage) => string,
  handler: Handler,
): Server {
  // There is no time limit for whole requests, because bodies for bots may stream as long as a session lasts. Headers
  // must arrive within a minute.
  const options = { requestTimeout: 0, headersTimeout: 60_000, keepAliveTimeout: 65_000, requireHostHeader: false };
  const server = createServer(options, (incoming, response) => {
    const badHead = checkRequestHead(incoming);
    if (badHead !== null) return refuse(incoming, response, badHead);
    if (isPreflight(incoming)) {
      response.writeHead(204, createPreflightHeaders(cors, incoming)).end();
      return discardRequestBody(incoming);
    }
    const path = parseSessionPath(incoming.url ?? '');
    if (path !== null) return void streamed.proxy(incoming, response, path, requestId(incoming));
    // Runs before Node's own listener, which discards an unread body as fast as the client sends it.
    response.prependOnceListener('finish', () => discardRequestBody(incoming));
    const uploadId = parseUploadPath(incoming.url ?? '');
    if (uploadId !== null) return void streamed.uploads(incoming, response, uploadId, requestId(incoming));
    limitBodyTime(incoming, requestId(incoming));
    handler(incoming, response);
  });
  // Disable Node's limit on header lines, because Node drops excess lines silently. `checkRequestHead` counts the lines and
  // checks the Host header instead.
  server.maxHeadersCount = 0;
  server.on('checkExpectation', (incoming: IncomingMessage, response: ServerResponse) => {
    refuse(incoming, response, createApiError('expectation-unsupported'));
  });
  server.on('connect', (incoming: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    refuseUpgrade(socket, createApiError('method-not-implemented'), requestId(incoming));
  });
  return server;

  function refuse(incoming: IncomingMessage, response: ServerResponse, problem: ApiError): void {
    sendFailure(response, problem, requestId(incoming));
    discardRequestBody(incoming);
  }
}
