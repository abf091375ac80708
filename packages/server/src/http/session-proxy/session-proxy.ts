import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ApiError,
  createApiError,
  createTimeout,
  maxProxyBodyBytes,
  maxProxyReadinessWaitSeconds,
  proxyHttpMethods,
} from '@bothost/contract';
import type { Logger } from 'pino';
import type { BotAddress } from '../../instances/address.ts';
import type { Telemetry } from '../../metrics/telemetry.ts';
import type { Authenticator } from '../../organizations/authenticate.ts';
import { verifyToken } from '../../session-starts/socket-token.ts';
import type { SessionAddressRegistry } from '../../sessions/session-address-registry.ts';
import { readBearerToken } from '../requests/bearer.ts';
import { type CorsPolicy, createCorsHeaders } from '../requests/cors.ts';
import { discardRequestBody } from '../requests/discard-request-body.ts';
import { endWhenIdle } from '../requests/end-when-idle.ts';
import {
  createBodyTooLargeError,
  type FailureMapper,
  requestIdHeader,
  sendFailure,
} from '../requests/failure-response.ts';
import { createBotRequestHeaders, createClientResponseHeaders } from '../requests/forwarded-headers.ts';
import type { RequestClient } from '../requests/request-client.ts';
import { createBotRequestForwarder } from './bot-requests.ts';
import type { SessionPath } from './session-path.ts';

export type ProxyContext = {
  readonly authenticator: Authenticator;
  readonly socketTokenKey: Buffer;
  readonly now: () => Date;
  readonly sessionAddresses: SessionAddressRegistry;
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  readonly cors: CorsPolicy;
  readonly resolveClient: (incoming: IncomingMessage) => RequestClient;
  readonly toFailure: FailureMapper;
};

/** Milliseconds without a byte after the end of a session or its bot until its proxied connections are closed by force. */
export const lastBytesMs = 10_000;

const methods: ReadonlySet<string> = new Set(proxyHttpMethods);

/**
 * Proxies all requests for bots, with back-pressure. Runs before the web framework, which would buffer request bodies.
 */
export function createSessionProxy(context: ProxyContext) {
  const forwarder = createBotRequestForwarder();

  async function handle(
    incoming: IncomingMessage,
    response: ServerResponse,
    path: SessionPath,
    requestId: string,
  ): Promise<void> {
    try {
      const organizationId = await authorizeSessionAccess(context, readBearerToken(incoming), path);
      if (!methods.has(incoming.method ?? '')) throw createApiError('method-not-allowed');
      if (Number(incoming.headers['content-length'] ?? 0) > maxProxyBodyBytes)
        throw createBodyTooLargeError(maxProxyBodyBytes);
      const address = await locateSession(context, incoming, path, organizationId);
      forward(incoming, response, path, address, requestId);
    } catch (error) {
      refuse(incoming, response, error, requestId);
    }
  }

  function refuse(incoming: IncomingMessage, response: ServerResponse, error: unknown, requestId: string) {
    const known = error instanceof ApiError ? error : context.toFailure(error);
    if (known.status >= 500) context.logger.warn({ requestId, err: known.cause ?? known }, 'proxied request failed');
    context.telemetry.proxied('http', known.reason);
    sendFailure(response, known, requestId, createCorsHeaders(context.cors, incoming));
    discardRequestBody(incoming);
  }

  function forward(
    incoming: IncomingMessage,
    response: ServerResponse,
    path: SessionPath,
    address: BotAddress,
    requestId: string,
  ) {
    const headers = createBotRequestHeaders(incoming.headers, path.sessionId, context.resolveClient(incoming));
    const size = incoming.headers['content-length'];
    if (size !== undefined) headers['content-length'] = size;
    const abort = forwarder.send({ address, path: path.target, headers }, incoming, response, {
      onAnswer: (status, answer) => {
        context.telemetry.proxied('http', 'answered');
        const forClient = createClientResponseHeaders(answer);
        const cors = createCorsHeaders(context.cors, incoming);
        const vary = [forClient['vary'] ?? [], cors['vary'] ?? []].flat().join(', ');
        // A response with status 204 must not have this header (RFC 9110, section 8.6).
        if (status === 204) delete forClient['content-length'];
        response.writeHead(status, {
          ...forClient,
          ...cors,
          ...(vary === '' ? {} : { vary }),
          [requestIdHeader]: requestId,
        });
      },
      onFailure: (cause) => refuse(incoming, response, createApiError('bot-unreachable', { cause }), requestId),
      onClose: () => removeListener(),
    });
    // A bot whose network has vanished does not end its connections.
    const removeListener = context.sessionAddresses.onUnreachable(path.sessionId, () =>
      response.once(
        'close',
        endWhenIdle(incoming.socket, lastBytesMs, () => abort(new Error('the bot ended without a response'))),
      ),
    );
  }

  return { handle, close: () => forwarder.close() };
}

/**
 * Checks the credential of a request for a session, and returns the id of the organization whose sessions it opens. A public key
 * opens all of them. A token from a start by a person opens only the session in its payload. Call this before checking anything
 * else in the request.
 *
 * @throws failure `key-missing`, `key-invalid`
 */
export async function authorizeSessionAccess(
  context: Pick<ProxyContext, 'authenticator' | 'socketTokenKey' | 'now'>,
  credential: string | null,
  path: SessionPath,
): Promise<string> {
  if (credential === null) throw createApiError('key-missing');
  const { authenticator, socketTokenKey, now } = context;
  const known = authenticator.cached(credential, 'public');
  if (known !== undefined) return known.organizationId;
  const token = verifyToken(socketTokenKey, credential, now());
  if (token === null) return (await authenticator.authenticate(credential, 'public')).organizationId;
  const { organizationId, agent, session } = token;
  if (organizationId === undefined || agent !== path.agentName || session !== path.sessionId) {
    throw createApiError('key-invalid');
  }
  return organizationId;
}

/** The bot's address. Fails with 404 for a missing session or another organization's, and 421 if another server runs it. */
export async function locateSession(
  context: Pick<ProxyContext, 'sessionAddresses'>,
  incoming: IncomingMessage,
  { sessionId, agentName, reserved }: SessionPath,
  organizationId: string,
  readinessWaitMs = maxProxyReadinessWaitSeconds * 1000,
): Promise<BotAddress> {
  if (reserved) throw createApiError('not-found');
  const { sessionAddresses } = context;
  const known =
    sessionAddresses.known(sessionId) ?? (await sessionAddresses.find({ sessionId, organizationId, agentName }));
  if (known === undefined || known.organizationId !== organizationId || known.agentName !== agentName) {
    throw createApiError('not-found');
  }
  return known.open && known.address !== null
    ? known.address
    : hold(context.sessionAddresses, known.sessionId, incoming, readinessWaitMs);
}

/** Waits for dispatch. Fails with 404 if the session ends before that, and with 504 after the time limit. */
async function hold(
  sessionAddresses: SessionAddressRegistry,
  sessionId: string,
  incoming: IncomingMessage,
  readinessWaitMs: number,
): Promise<BotAddress> {
  const disconnect = new AbortController();
  const onClose = () => disconnect.abort();
  incoming.socket.once('close', onClose);
  const deadline = createTimeout(readinessWaitMs);
  try {
    const address = await sessionAddresses.whenOpen(sessionId, AbortSignal.any([disconnect.signal, deadline]));
    if (address !== null) return address;
    throw createApiError(deadline.aborted ? 'bot-not-ready' : 'not-found');
  } finally {
    incoming.socket.off('close', onClose);
  }
}
