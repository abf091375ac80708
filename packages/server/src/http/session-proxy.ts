import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { ApiError, failure, proxyBodyBytes, proxyHoldSeconds, proxyMethods } from '@bothost/contract';
import type { Logger } from 'pino';
import type { Telemetry } from '../metrics/telemetry.ts';
import type { Authenticator, Caller } from '../organizations/authenticate.ts';
import type { Address, Directory, Whereabouts } from '../sessions/whereabouts.ts';
import { bearerToken } from './bearer.ts';
import { type CorsPolicy, corsHeaders } from './cors.ts';
import { sendFailure, type ToFailure } from './failure-response.ts';
import { headersForBot, headersForClient } from './forwarded-headers.ts';
import type { SessionPath } from './session-path.ts';

export type ProxyContext = {
  readonly authenticator: Authenticator;
  readonly directory: Directory;
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  readonly cors: CorsPolicy;
  readonly toFailure: ToFailure;
};

const methods: ReadonlySet<string> = new Set(proxyMethods);

/**
 * The session proxy: any request, streamed both ways with back-pressure. It stands before the framework, since it is the
 * one path whose bodies are not the service's.
 */
export function createSessionProxy(context: ProxyContext) {
  // Connections are kept for a session's next request; uvicorn closes idle ones after 5 s, so ours go first.
  const agent = new Agent({ keepAlive: true, keepAliveMsecs: 1_000, timeout: 4_000, scheduling: 'lifo' });

  async function handle(
    incoming: IncomingMessage,
    response: ServerResponse,
    path: SessionPath,
    requestId: string,
  ): Promise<void> {
    try {
      if (!methods.has(incoming.method ?? '')) throw failure('method-not-allowed');
      if (Number(incoming.headers['content-length'] ?? 0) > proxyBodyBytes) throw failure('body-too-large');
      const address = await locate(context, incoming, path);
      forward(incoming, response, path, address, requestId);
    } catch (error) {
      refuse(incoming, response, error, requestId);
    }
  }

  function refuse(incoming: IncomingMessage, response: ServerResponse, error: unknown, requestId: string) {
    const known = error instanceof ApiError ? error : context.toFailure(error);
    if (known.status >= 500) context.logger.warn({ requestId, err: known.cause ?? known }, 'a proxied request failed');
    context.telemetry.proxied('http', known.reason);
    // The rest of a body that is not wanted would be read as the next request.
    const close = incoming.complete ? {} : { connection: 'close' };
    sendFailure(response, known, requestId, { ...corsHeaders(context.cors, incoming), ...close });
  }

  function forward(
    incoming: IncomingMessage,
    response: ServerResponse,
    path: SessionPath,
    address: Address,
    requestId: string,
    again = true,
  ) {
    const headers = headersForBot(incoming.headers, path.sessionId);
    const size = incoming.headers['content-length'];
    if (size !== undefined) headers['content-length'] = size;
    const sent = request({ ...address, path: path.target, method: incoming.method, headers, agent });
    // A session's request may stream for as long as the session lives.
    sent.on('socket', (socket) => socket.setTimeout(0));
    sent.on('response', (answer) => {
      context.telemetry.proxied('http', 'answered');
      const headers = { ...headersForClient(answer.headers), ...corsHeaders(context.cors, incoming) };
      response.writeHead(answer.statusCode ?? 502, { ...headers, 'x-request-id': requestId });
      pipeline(answer, response, () => undefined);
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (response.headersSent || response.destroyed) return void response.destroy();
      if (again && isStale(sent, error) && isRepeatable(incoming)) {
        return forward(incoming, response, path, address, requestId, false);
      }
      refuse(incoming, response, failure('bot-unreachable', { cause: error }), requestId);
    });
    response.on('close', () => sent.destroy());
    if (isRepeatable(incoming)) sent.end();
    else pipeline(incoming, sent, () => undefined);
  }

  return { handle, close: () => agent.destroy() };
}

/**
 * Who may ask, and where the bot is: 401 before 404, and one 404 for what is not there and what is another's
 * (invariant 7).
 */
export async function locate(
  context: Pick<ProxyContext, 'authenticator' | 'directory'>,
  incoming: IncomingMessage,
  path: SessionPath,
  key: string | null = bearerToken(incoming),
): Promise<Address> {
  if (key === null) throw failure('key-missing');
  const caller =
    context.authenticator.cached(key, 'public') ?? (await context.authenticator.authenticate(key, 'public'));
  if (path.reserved) throw failure('not-found');
  const known = context.directory.known(path.sessionId) ?? (await context.directory.find(path.sessionId));
  if (known === undefined || !isOf(known, caller, path)) throw failure('not-found');
  return known.open && known.address !== null ? known.address : hold(context.directory, known.sessionId, incoming);
}

function isOf(known: Whereabouts, caller: Caller, path: SessionPath): boolean {
  return known.organizationId === caller.organizationId && known.agentName === path.agentName;
}

/** Waits until the bot has the session, which takes a cold instance a while; 404 when the session ended meanwhile, 504 when it took too long. */
async function hold(directory: Directory, sessionId: string, incoming: IncomingMessage): Promise<Address> {
  const gone = new AbortController();
  const onClose = () => gone.abort();
  incoming.socket.once('close', onClose);
  const deadline = AbortSignal.timeout(proxyHoldSeconds * 1000);
  try {
    const address = await directory.whenOpen(sessionId, AbortSignal.any([gone.signal, deadline]));
    if (address !== null) return address;
    throw failure(deadline.aborted ? 'bot-not-ready' : 'not-found');
  } finally {
    incoming.socket.off('close', onClose);
  }
}

/** The bot closed a kept connection just when we used it again. */
function isStale(sent: ClientRequest, error: NodeJS.ErrnoException): boolean {
  return sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

/** It has no body, so it can be sent again. */
function isRepeatable(incoming: IncomingMessage): boolean {
  const { 'content-length': size, 'transfer-encoding': coding } = incoming.headers;
  return coding === undefined && (size === undefined || size === '0');
}
