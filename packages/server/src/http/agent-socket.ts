import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { failure, startDeadlineSeconds } from '@bothost/contract';
import type { Logger } from 'pino';
import { WebSocket, WebSocketServer } from 'ws';
import type { Telemetry } from '../metrics/telemetry.ts';
import { refuseUpgrade, type ToFailure } from './failure-response.ts';
import { headersForBot } from './forwarded-headers.ts';
import type { SocketPath } from './socket-path.ts';
import { relay } from './socket-relay.ts';

/** One message at most; bots and carriers send a few kilobytes. */
const messageBytes = 16 * 1_048_576;
/** What a client may send before it was answered. */
const earlyBytes = 65_536;

/** A session that a client connected to, as the verbs see it. */
export type SocketSession = {
  readonly sessionId: string;
  /** Resolves with the instance's address when it is ready; null when it will not be. */
  readonly address: (signal: AbortSignal) => Promise<{ readonly host: string; readonly port: number } | null>;
  /** What only the service may say to the bot. */
  readonly headers: Readonly<Record<string, string>>;
  readonly live: () => Promise<void>;
  readonly finish: (status: string) => Promise<void>;
  /** Has `abort` called when the session is stopped. */
  readonly onStop: (abort: () => void) => void;
};

export type AgentSocketContext = {
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  readonly toFailure: ToFailure;
  /** Makes the session and claims its instance. Rejects with a failure, and then nothing was taken. */
  readonly connect: (path: SocketPath) => Promise<SocketSession>;
};

/**
 * `/ws/generic/...`: validate, claim, open the instance's `/ws`, and only then answer 101 (bot contract 4.3, 4). The
 * session's life is the socket's life.
 */
export function createAgentSocket(context: AgentSocketContext) {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: messageBytes });

  async function handle(incoming: IncomingMessage, socket: Duplex, head: Buffer, path: SocketPath, requestId: string) {
    const early = readEarly(socket, head);
    try {
      const session = await context.connect(path);
      const status = await run(incoming, socket, early, path, session).catch(async (error: unknown) => {
        await session.finish(error instanceof Refused ? error.status : 'HTTP_ERROR');
        throw error;
      });
      await session.finish(status);
    } catch (error) {
      const known = error instanceof Refused ? failure('bot-unreachable', { cause: error }) : context.toFailure(error);
      context.telemetry.proxied('websocket', known.reason);
      if (known.status >= 500)
        context.logger.warn({ requestId, err: known.cause ?? known }, 'a client could not connect');
      refuseUpgrade(socket, known, requestId);
    }
  }

  async function run(
    incoming: IncomingMessage,
    socket: Duplex,
    early: Early,
    path: SocketPath,
    session: SocketSession,
  ): Promise<string> {
    const stopped = new AbortController();
    session.onStop(() => stopped.abort());
    const signal = AbortSignal.any([early.gone, stopped.signal, AbortSignal.timeout(startDeadlineSeconds * 1000)]);
    const address = await session.address(signal);
    if (early.gone.aborted) return 'WS_CONNECTION_CLOSED';
    if (stopped.signal.aborted) throw failure('session-ended');
    if (address === null) throw new Refused(signal.aborted ? 'BOT_START_TIMEOUT' : 'HTTP_ERROR');
    const url = `ws://${address.host}:${address.port}/ws${path.query}`;
    const bot = await openBot(url, incoming, session, signal);
    if (early.gone.aborted) {
      bot.close(1001);
      return 'WS_CONNECTION_CLOSED';
    }
    const client = await accept(incoming, socket, early, bot);
    session.onStop(() => close(client, bot, 1001, 'the session was stopped'));
    context.telemetry.proxied('websocket', 'answered');
    const ended = relay(client, bot);
    // Both were held until each could hear the other.
    client.resume();
    bot.resume();
    // From here on the answer is given: what fails now closes the sockets.
    session.live().catch((error: unknown) => {
      context.logger.error({ sessionId: session.sessionId, err: error }, 'a session could not be recorded as live');
      close(client, bot, 1011, 'the service failed');
    });
    await ended;
    return 'WS_CONNECTION_CLOSED';
  }

  function accept(incoming: IncomingMessage, socket: Duplex, early: Early, bot: WebSocket): Promise<WebSocket> {
    // The bot chose among the client's subprotocols; the client is told that choice.
    if (bot.protocol === '') delete incoming.headers['sec-websocket-protocol'];
    else incoming.headers['sec-websocket-protocol'] = bot.protocol;
    return new Promise((resolve, reject) => {
      socket.once('close', () => reject(new Refused('WS_CONNECTION_CLOSED')));
      server.handleUpgrade(incoming, socket, early.take(), resolve);
    });
  }

  return { handle };
}

/** The bot did not take the socket; `status` is the session's completion status. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: string;
  constructor(status: string) {
    super(`the bot did not take the socket: ${status}`);
    this.status = status;
  }
}

function openBot(
  url: string,
  incoming: IncomingMessage,
  session: SocketSession,
  signal: AbortSignal,
): Promise<WebSocket> {
  const offered = incoming.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  const headers = Object.fromEntries(
    Object.entries({ ...headersForBot(incoming.headers, session.sessionId), ...session.headers }).filter(
      ([name]) => !name.startsWith('sec-websocket-'),
    ),
  );
  const options = { headers, perMessageDeflate: false, maxPayload: messageBytes, signal } as const;
  return new Promise((resolve, reject) => {
    const bot = new WebSocket(url, offered, options);
    bot.once('open', () => {
      // Nothing it says may be lost before the client is there.
      bot.pause();
      resolve(bot);
    });
    bot.once('unexpected-response', (_, answer) => {
      answer.resume();
      reject(new Refused(String(answer.statusCode ?? 'HTTP_ERROR')));
      bot.terminate();
    });
    bot.on('error', () => reject(new Refused('HTTP_ERROR')));
  });
}

function close(client: WebSocket, bot: WebSocket, code: number, reason: string) {
  client.close(code, reason);
  bot.close(code, reason);
}

type Early = { readonly gone: AbortSignal; readonly take: () => Buffer };

/** Reads what comes before the answer, because only a socket that is read tells that its client is gone. */
function readEarly(socket: Duplex, head: Buffer): Early {
  const gone = new AbortController();
  const chunks = [head];
  let size = head.length;
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > earlyBytes) socket.destroy();
  };
  const onGone = () => gone.abort();
  socket.on('data', onData);
  socket.on('error', onGone);
  socket.once('end', onGone);
  socket.once('close', onGone);
  const take = () => {
    socket.off('data', onData);
    socket.off('end', onGone);
    socket.pause();
    return Buffer.concat(chunks);
  };
  return { gone: gone.signal, take };
}
