import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type ApiError,
  type Carrier,
  type CompletionStatus,
  carrierMessageBytes,
  failure,
  nameLength,
  startDeadlineSeconds,
} from '@bothost/contract';
import type { Logger } from 'pino';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import type { Telemetry } from '../metrics/telemetry.ts';
import { openBot, type Refusal, Refused } from './bot-socket.ts';
import { createCallClient } from './call-client.ts';
import { readEarly } from './early-bytes.ts';
import type { ToFailure } from './failure-response.ts';
import { createPatientClient, type SocketClient } from './socket-client.ts';
import type { ServiceHost, SocketPath } from './socket-path.ts';
import { relay } from './socket-relay.ts';

/** One message at most; bots send a few kilobytes. */
const messageBytes = 16 * 1_048_576;
/** A client that does not answer the closing handshake is not waited for longer (ms). */
const closeMilliseconds = 2_000;

/** Whom a client asks for, and what it shows for it. */
export type SocketTarget = ServiceHost & { readonly token: string | null; readonly carrier: Carrier | null };

/** A session that a client connected to, as the verbs see it. */
export type SocketSession = {
  readonly sessionId: string;
  /** Resolves with the instance's address when it is ready; null when it will not be. */
  readonly address: (signal: AbortSignal) => Promise<{ readonly host: string; readonly port: number } | null>;
  /** What only the service may say to the bot. */
  readonly headers: Readonly<Record<string, string>>;
  readonly live: () => Promise<void>;
  /** Keeps with the session what the bot answered in place of taking the socket. */
  readonly refused: (answer: Refusal) => Promise<void>;
  readonly finish: (status: CompletionStatus) => Promise<void>;
  /** Has `abort` called when the session is stopped. */
  readonly onStop: (abort: () => void) => void;
};

export type AgentSocketContext = {
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  readonly toFailure: ToFailure;
  /** Makes the session and claims its instance. Rejects with a failure, and then nothing was taken. */
  readonly connect: (target: SocketTarget) => Promise<SocketSession>;
};

/**
 * `/ws/generic/...` and the carriers' paths: find out whom the client is for, claim, open the instance's `/ws`, relay (bot
 * contract 4.3 and 4.4). The session's life is the socket's life.
 */
export function createAgentSocket(context: AgentSocketContext) {
  // The types of ws do not know the option yet.
  const timeouts: object = { closeTimeout: closeMilliseconds };
  const common: ServerOptions = { ...timeouts, noServer: true, perMessageDeflate: false };
  const server = new WebSocketServer({ ...common, maxPayload: messageBytes });
  const callServer = new WebSocketServer({ ...common, maxPayload: carrierMessageBytes });

  function handle(incoming: IncomingMessage, socket: Duplex, head: Buffer, path: SocketPath, requestId: string) {
    const upgrade = { incoming, socket, early: readEarly(socket, head) };
    if (path.carrier === null) {
      const client = createPatientClient(server, upgrade, requestId);
      return admit(incoming, client, path, requestId, async () => path.host);
    }
    const call = createCallClient(callServer, upgrade, path.carrier, requestId);
    return admit(incoming, call, path, requestId, async () => path.host ?? (await call.opening()));
  }

  async function admit(
    incoming: IncomingMessage,
    client: SocketClient,
    path: SocketPath,
    requestId: string,
    named: () => Promise<ServiceHost>,
  ) {
    const { carrier, token } = path;
    let host: ServiceHost | null = null;
    try {
      host = await named();
      const session = await context.connect({ ...host, token, carrier });
      const status = await run(incoming, client, path, session).catch(async (error: unknown) => {
        const known = error instanceof Refused ? error.status : 'HTTP_ERROR';
        if (error instanceof Refused && error.answer !== null) await session.refused(error.answer);
        await session.finish(client.gone.aborted ? 'WS_CONNECTION_CLOSED' : known);
        throw error;
      });
      await session.finish(status);
    } catch (error) {
      const known = error instanceof Refused ? failureOf(error) : context.toFailure(error);
      context.telemetry.proxied('websocket', known.reason);
      logRefusal(known, requestId, carrier, host);
      client.refuse(known);
    }
  }

  function logRefusal(known: ApiError, requestId: string, carrier: Carrier | null, host: ServiceHost | null) {
    if (known.status >= 500) {
      context.logger.warn({ requestId, err: known.cause ?? known }, 'a client could not connect');
    } else if (carrier !== null) {
      // Nobody reads the answer that a carrier gets: only this says why a phone stays silent.
      const { reason, message, cause } = known;
      const why = cause instanceof Error ? cause.message : message;
      context.logger.warn({ requestId, carrier, ...shortened(host), reason, why }, 'a call was refused');
    }
  }

  /** Resolves with the completion status. */
  async function run(
    incoming: IncomingMessage,
    client: SocketClient,
    path: SocketPath,
    session: SocketSession,
  ): Promise<CompletionStatus> {
    const stopped = new AbortController();
    session.onStop(() => stopped.abort());
    await client.claimed();
    const signal = AbortSignal.any([client.gone, stopped.signal, AbortSignal.timeout(startDeadlineSeconds * 1000)]);
    const address = await session.address(signal);
    if (client.gone.aborted) return 'WS_CONNECTION_CLOSED';
    if (stopped.signal.aborted) throw failure('session-ended');
    if (address === null) throw new Refused(signal.aborted ? 'BOT_START_TIMEOUT' : 'HTTP_ERROR');
    const url = `ws://${address.host}:${address.port}/ws${path.query}`;
    const bot = await openBot(url, incoming, session, { signal, messageBytes });
    const joined = client.gone.aborted ? null : await client.join(bot);
    if (joined === null) {
      bot.close(1001);
      return 'WS_CONNECTION_CLOSED';
    }
    session.onStop(() => close(joined, bot, 1001, 'the session was stopped'));
    context.telemetry.proxied('websocket', 'answered');
    const ended = relay(joined, bot);
    // Both were held until each could hear the other.
    joined.resume();
    bot.resume();
    // From here on the answer is given: what fails now closes the sockets.
    session.live().catch((error: unknown) => {
      context.logger.error({ sessionId: session.sessionId, err: error }, 'a session could not be recorded as live');
      close(joined, bot, 1011, 'the service failed');
    });
    await ended;
    return 'WS_CONNECTION_CLOSED';
  }

  return { handle };
}

/** A bot that answers says with it why there is no socket; most have no `/ws`. */
function failureOf(cause: Refused): ApiError {
  const { answer } = cause;
  if (answer === null) return failure('bot-unreachable', { cause });
  const said = `${answer.status} ${answer.phrase}`.trim();
  return failure('bot-refused', { cause, message: `The bot did not accept the WebSocket: it answered ${said}.` });
}

/** Names that nothing can have may be long. */
function shortened(host: ServiceHost | null) {
  if (host === null) return {};
  const { agentName, organizationName } = host;
  return {
    agent: agentName.slice(0, nameLength.maximum),
    organization: organizationName.slice(0, nameLength.maximum),
  };
}

function close(client: WebSocket, bot: WebSocket, code: number, reason: string) {
  client.close(code, reason);
  bot.close(code, reason);
}
