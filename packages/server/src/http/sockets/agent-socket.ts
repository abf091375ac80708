import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type ApiError,
  createApiError,
  createTimeout,
  instanceStartTimeoutSeconds,
  maxCarrierMessageBytes,
  maxSessionStartWaitSeconds,
  type PhoneCarrier,
} from '@bothost/contract';
import type { Logger } from 'pino';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import type { BotAddress } from '../../instances/address.ts';
import { isMachineReachable } from '../../instances/connect.ts';
import type { Telemetry } from '../../metrics/telemetry.ts';
import type { WebSocketSession, WebSocketTarget } from '../../session-starts/connect-websocket-session.ts';
import type { RelayedSocketEnd } from '../../sessions/relayed-socket-end.ts';
import { endWhenIdle } from '../requests/end-when-idle.ts';
import type { FailureMapper } from '../requests/failure-response.ts';
import type { RequestClient } from '../requests/request-client.ts';
import { BotRefusedSocketError, openBotSocket } from './bot-socket.ts';
import { readClientBytesBeforeResponse } from './bytes-before-response.ts';
import { createPhoneCarrierConnection } from './call-client.ts';
import { createIncomingWebSocketClient, type IncomingWebSocketClient } from './incoming-websocket-client.ts';
import { createRefusedHandshakeCache } from './refused-handshake-cache.ts';
import { relayWebSockets } from './socket-relay.ts';
import { type QualifiedAgentName, removeTokenFromQuery, type WebSocketPath } from './websocket-path.ts';

/** Maximum size of a WebSocket message in bytes. Bots usually send a few kilobytes. */
const messageBytes = 16 * 1_048_576;
/** Milliseconds to wait for the client's side of the closing handshake. */
const closeMs = 2_000;
/** Milliseconds without a message after the end of a bot until its WebSocket is closed by force. */
const lastMessageMs = 2_000;

export type AgentSocketContext = {
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  readonly toFailure: FailureMapper;
  readonly resolveClient: (incoming: IncomingMessage) => RequestClient;
  /** Returns the session for which a token is valid. Null if the token is not valid for this agent. */
  readonly verifyToken: (named: QualifiedAgentName, token: string) => string | null;
  /** Creates a session and claims an instance for it. If the promise rejects, neither the session nor the claim remains. */
  readonly connect: (target: WebSocketTarget) => Promise<WebSocketSession>;
  /** Records why a phone call was refused, because carriers do not show the response. Never rejects. */
  readonly recordRefusedCall: (call: {
    readonly requestId: string;
    readonly carrier: PhoneCarrier;
    readonly called: { readonly agentName: string; readonly organization: string } | null;
    readonly failure: ApiError;
  }) => Promise<void>;
};

/** Relays a client's WebSocket to an instance's `/ws`. The session lasts as long as the WebSocket. */
export function createAgentWebSocketRelay(context: AgentSocketContext) {
  // Widen the type to `object`, because the types of `ws` do not declare the option `closeTimeout`.
  const timeouts: object = { closeTimeout: closeMs };
  const common: ServerOptions = { ...timeouts, noServer: true, perMessageDeflate: false };
  const server = new WebSocketServer({ ...common, maxPayload: messageBytes });
  const callServer = new WebSocketServer({ ...common, maxPayload: maxCarrierMessageBytes });

  const refusedHandshakes = createRefusedHandshakeCache();

  function handle(incoming: IncomingMessage, socket: Duplex, head: Buffer, path: WebSocketPath, requestId: string) {
    const upgrade = { incoming, socket, early: readClientBytesBeforeResponse(socket, head) };
    if (path.carrier === null) {
      const client = createIncomingWebSocketClient(server, upgrade, requestId);
      return admit(incoming, client, path, requestId, async () => path.host);
    }
    const call = createPhoneCarrierConnection(callServer, upgrade, path.carrier, requestId);
    return admit(incoming, call, path, requestId, async () => path.host ?? (await call.opening()));
  }

  async function admit(
    incoming: IncomingMessage,
    client: IncomingWebSocketClient,
    path: WebSocketPath,
    requestId: string,
    named: () => Promise<QualifiedAgentName>,
  ) {
    const { carrier, token } = path;
    let host: QualifiedAgentName | null = null;
    let tokenSession: string | null = null;
    try {
      host = await named();
      tokenSession = token === null ? null : context.verifyToken(host, token);
      const session = await context.connect({ ...host, tokenSession, carrier });
      const end = await run(incoming, client, path, session).catch(async (error: unknown) => {
        const known = error instanceof BotRefusedSocketError ? error.status : 'HTTP_ERROR';
        if (error instanceof BotRefusedSocketError && error.answer !== null) await session.refused(error.answer);
        await session.finish(client.disconnected.aborted ? 'WS_CONNECTION_CLOSED' : known);
        throw error;
      });
      await session.finishRelayed(end);
    } catch (error) {
      const known = error instanceof BotRefusedSocketError ? failureFromRefusal(error) : context.toFailure(error);
      context.telemetry.proxied('websocket', known.reason);
      recordRefusal(known, { requestId, carrier, host });
      // Remember a refusal only if the token is valid. Anyone can send invalid tokens, and their refusals would evict the
      // refusals of clients with a valid token.
      if (token !== null && tokenSession !== null && known.reason !== 'token-invalid')
        refusedHandshakes.add(token, known);
      client.refuse(known);
    }
  }

  function recordRefusal(
    failure: ApiError,
    { requestId, carrier, host }: { requestId: string; carrier: PhoneCarrier | null; host: QualifiedAgentName | null },
  ): void {
    if (failure.status >= 500)
      context.logger.warn({ requestId, err: failure.cause ?? failure }, 'client connection failed');
    if (carrier === null) return;
    const called = host === null ? null : { agentName: host.agentName, organization: host.organizationName };
    void context.recordRefusedCall({ requestId, carrier, called, failure });
  }

  /** Relays messages until either side closes its WebSocket. Resolves with the side that closed first. */
  async function run(
    incoming: IncomingMessage,
    client: IncomingWebSocketClient,
    path: WebSocketPath,
    session: WebSocketSession,
  ): Promise<RelayedSocketEnd> {
    const stopped = new AbortController();
    session.onStop(() => stopped.abort());
    await client.claimed();
    const opened = await openBot(incoming, client, path, session, stopped.signal);
    if (opened === null) return { by: 'client' };
    const { bot, address } = opened;
    const joined = client.disconnected.aborted ? null : await client.join(bot);
    if (joined === null) {
      bot.close(1001);
      return { by: 'client' };
    }
    session.onStop(() => close(joined, bot, 1001, 'the session was stopped'));
    // A bot whose network has vanished does not close its WebSocket.
    session.onUnreachable(() =>
      bot.once(
        'close',
        endWhenIdle(incoming.socket, lastMessageMs, () => bot.terminate()),
      ),
    );
    context.telemetry.proxied('websocket', 'answered');
    bot.once('message', session.onFirstMessage);
    const ended = relayWebSockets(joined, bot, () => isMachineReachable(address));
    // Resume the client's socket, which was paused until the bot's socket was ready.
    joined.resume();
    bot.resume();
    // The client already has the response 101, so a later failure can only close the sockets.
    const isLive = await session.live().then(
      () => true,
      (error: unknown) => {
        context.logger.error({ sessionId: session.sessionId, err: error }, 'session could not be recorded as live');
        close(joined, bot, 1011, 'the service failed');
        return false;
      },
    );
    // Wait for both. Otherwise, a bot that crashes at once could be recorded as one that never had the session.
    return isLive ? ended : { by: 'service' };
  }

  /** Opens the bot's WebSocket once the instance is ready. Null if the client disconnects before that. */
  async function openBot(
    incoming: IncomingMessage,
    client: IncomingWebSocketClient,
    path: WebSocketPath,
    session: WebSocketSession,
    stopped: AbortSignal,
  ): Promise<{ readonly bot: WebSocket; readonly address: BotAddress } | null> {
    const createDeadline = (seconds: number) =>
      AbortSignal.any([client.disconnected, stopped, createTimeout(seconds * 1000)]);
    const signal = createDeadline(maxSessionStartWaitSeconds);
    const address = await session.address(signal);
    if (client.disconnected.aborted) return null;
    if (stopped.aborted) throw createApiError('session-ended');
    if (address === null) throw new BotRefusedSocketError(signal.aborted ? 'BOT_START_TIMEOUT' : 'HTTP_ERROR');
    const limits = { signal: createDeadline(instanceStartTimeoutSeconds), messageBytes };
    const query = session.hasToken ? removeTokenFromQuery(path.query) : path.query;
    try {
      const bot = await openBotSocket(address, query, incoming, context.resolveClient(incoming), session, limits);
      return { bot, address };
    } catch (error) {
      const isUndelivered = error instanceof BotRefusedSocketError && error.isUndelivered;
      if (!isUndelivered || !(await session.replaceInstance('The bot could not be reached.'))) throw error;
      return openBot(incoming, client, path, session, stopped);
    }
  }

  return { handle, refusalOf: refusedHandshakes.find };
}

/** A failure with the HTTP status of the bot. Most bots that reject a WebSocket have no `/ws` route and respond with 404. */
function failureFromRefusal(cause: BotRefusedSocketError): ApiError {
  const { answer } = cause;
  if (answer === null) return createApiError('bot-unreachable', { cause });
  const status = `${answer.status} ${answer.phrase}`.trim();
  return createApiError('bot-refused', {
    cause,
    message: `The bot did not accept the WebSocket and responded with ${status}.`,
  });
}

function close(client: WebSocket, bot: WebSocket, code: number, reason: string) {
  client.close(code, reason);
  bot.close(code, reason);
}
