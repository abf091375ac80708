import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  bindSessionToSocket,
  createSessionRecorder,
  decodeStartBodyFromQuery,
  type ParrotContext,
  requireNoRunningSession,
  respondWithSessionState,
  runBot,
  startSession,
  stopBot,
} from './bot-routes.ts';
import { hasControlToken } from './control-token.ts';
import { handleFirstMessage } from './first-message.ts';
import { createErrorBody, RequestError, refuseUpgrade, sendJson } from './http-exchange.ts';
import { createSessionSlot } from './session.ts';
import {
  echoRoute,
  echoSocketRoute,
  eventsRoute,
  generateLoadRoute,
  handlerEntryTimeRoute,
  helloRoute,
} from './user-routes.ts';

export type ParrotOptions = {
  /** Path of the Unix socket to listen on. If it is set, host and port are not used. */
  readonly socket?: string | undefined;
  readonly host: string;
  /** The port to listen on; 0 selects any free port. */
  readonly port: number;
  readonly controlToken: string | undefined;
  /** Path of the file to which conversations are appended. If it is undefined, they are not recorded. */
  readonly conversationFile?: string | undefined;
  readonly newSessionId: () => string;
  readonly now: () => Date;
  /** The time in milliseconds since the epoch, with a fraction. */
  readonly preciseNow: () => number;
  readonly log: (line: string) => void;
};

export type ParrotServer = {
  /** The port on which the server listens, or 0 if it listens on a Unix socket. */
  readonly port: number;
  readonly close: () => Promise<void>;
};

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
};
type Route = (context: ParrotContext, exchange: Exchange) => void | Promise<void>;

const alive: Route = (_, { response }) => sendJson(response, 200, {});

const routes: ReadonlyMap<string, Readonly<Record<string, Route>>> = new Map<string, Record<string, Route>>([
  ['/readyz', { GET: alive }],
  ['/livez', { GET: alive }],
  ['/bot', { POST: (context, { request, response }) => runBot(context, request, response) }],
  ['/_bot/stop', { POST: (context, { request, response }) => stopBot(context, request, response) }],
  ['/_bot/session', { GET: (context, { url, response }) => respondWithSessionState(context, url, response) }],
  ['/', { GET: (context, { response }) => helloRoute(context, response) }],
  ['/hello', { GET: (context, { response }) => helloRoute(context, response) }],
  ['/entered', { GET: (context, { response }) => handlerEntryTimeRoute(context, response) }],
  ['/echo', { POST: (_, { request, response }) => echoRoute(request, response) }],
  ['/events', { GET: (context, { response }) => eventsRoute(context, response) }],
  ['/burn', { POST: (context, { request, response }) => generateLoadRoute(context, request, response) }],
]);

const reserved = /^\/(bot|ws|_bot\/.*)$/;

/** Rejects with the listener's error, for example if the port is taken. */
export async function startParrotServer(options: ParrotOptions): Promise<ParrotServer> {
  const closing = new AbortController();
  const slot = createSessionSlot(options.now);
  const context: ParrotContext = { ...options, slot, closing: closing.signal };
  // Milliseconds to wait for the closing handshake of a client; then the session ends without the handshake. Typed as `object`,
  // because the types of ws lack this option.
  const timeouts: object = { closeTimeout: 2000 };
  const sockets = new WebSocketServer({ ...timeouts, noServer: true, maxPayload: 1_048_576, perMessageDeflate: false });
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 });

  server.on('request', (request, response) => {
    dispatch(context, options.controlToken, { request, response, url: urlOf(request) }).catch((cause: unknown) => {
      const error = cause instanceof RequestError ? cause : new RequestError(500, 'Internal error');
      // Do not log errors of a response whose client has disconnected.
      if (error.status === 500 && !response.destroyed) options.log(`error: ${String(cause)}`);
      if (response.headersSent) response.destroy();
      else if (!request.complete) response.setHeader('connection', 'close');
      sendJson(response, error.status, createErrorBody(error.status, error.message));
    });
  });
  server.on('upgrade', (request, socket, head) => {
    const accept = (onOpen: (webSocket: WebSocket) => void) => sockets.handleUpgrade(request, socket, head, onOpen);
    try {
      upgrade(context, options.controlToken, request, accept);
    } catch (cause) {
      const error = cause instanceof RequestError ? cause : new RequestError(500, 'Internal error');
      refuseUpgrade(socket, error.status, error.message);
    }
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    const { socket, host, port } = options;
    server.listen(socket === undefined ? { host, port } : { path: socket }, resolve);
  });

  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      slot.running()?.end('shutdown');
      await slot.ended();
      closing.abort();
      for (const socket of sockets.clients) socket.terminate();
      server.closeIdleConnections();
      await closed;
    },
  };
}

async function dispatch(context: ParrotContext, token: string | undefined, exchange: Exchange): Promise<void> {
  const { request, url } = exchange;
  requireToken(request, url, token);
  const methods = routes.get(url.pathname);
  if (methods === undefined) throw new RequestError(404, `${url.pathname} does not exist`);
  const route = methods[request.method === 'HEAD' ? 'GET' : (request.method ?? '')];
  if (route === undefined) throw new RequestError(405, `${url.pathname} does not support ${request.method}`);
  await route(context, exchange);
}

function upgrade(
  context: ParrotContext,
  token: string | undefined,
  request: IncomingMessage,
  accept: (onOpen: (webSocket: WebSocket) => void) => void,
): void {
  const enteredAtMs = context.preciseNow();
  const url = urlOf(request);
  requireToken(request, url, token);
  if (url.pathname === '/echo-socket') {
    accept(echoSocketRoute);
  } else if (url.pathname === '/ws') {
    const body = decodeStartBodyFromQuery(url);
    requireNoRunningSession(context);
    accept((socket) => {
      const session = startSession(context, request.headers, enteredAtMs);
      const recorder = createSessionRecorder(context, request.headers, session);
      handleFirstMessage({ socket, session, recorder, body, now: context.preciseNow, log: context.log });
      void bindSessionToSocket(session, socket, recorder);
    });
  } else {
    throw new RequestError(404, `${url.pathname} is not a WebSocket route`);
  }
}

function requireToken(request: IncomingMessage, url: URL, token: string | undefined): void {
  if (reserved.test(url.pathname) && !hasControlToken(request.headers, token)) {
    throw new RequestError(401, 'This path requires the control token');
  }
}

function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? '/', 'http://parrot');
}
