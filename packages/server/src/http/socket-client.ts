import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiError } from '@bothost/contract';
import type { WebSocket, WebSocketServer } from 'ws';
import type { Early } from './early-bytes.ts';
import { refuseUpgrade } from './failure-response.ts';

/** Whoever connects to an agent. Kinds differ in when they are answered, and in what they may say before the bot is there. */
export type SocketClient = {
  /** Aborts when it went away. */
  readonly gone: AbortSignal;
  /** It has an instance, which may still have to start. */
  readonly claimed: () => Promise<void>;
  /** The bot is there: what the client said so far is sent to it. The socket is paused; null when the client is gone. */
  readonly join: (bot: WebSocket) => Promise<WebSocket | null>;
  readonly refuse: (error: ApiError) => void;
};

/** A client's upgrade request before it was answered. */
export type Upgrade = { readonly incoming: IncomingMessage; readonly socket: Duplex; readonly early: Early };

/**
 * A client that is answered 101 when its bot has taken the socket, and by plain HTTP before (bot contract 4.3): it learns
 * the bot's choice among its subprotocols, and nothing that it sends has to be kept.
 */
export function createPatientClient(server: WebSocketServer, upgrade: Upgrade, requestId: string): SocketClient {
  const { incoming, socket, early } = upgrade;
  return {
    gone: early.gone,
    claimed: async () => undefined,
    join: (bot) => {
      if (bot.protocol === '') delete incoming.headers['sec-websocket-protocol'];
      else incoming.headers['sec-websocket-protocol'] = bot.protocol;
      return accept(server, upgrade);
    },
    refuse: (error) => refuseUpgrade(socket, error, requestId),
  };
}

/** Answers 101. The socket stays paused; null when the client is gone. */
export function accept(server: WebSocketServer, { incoming, socket, early }: Upgrade): Promise<WebSocket | null> {
  return new Promise((resolve) => {
    early.gone.addEventListener('abort', () => resolve(null), { once: true });
    if (early.gone.aborted) resolve(null);
    else server.handleUpgrade(incoming, socket, early.take(), resolve);
  });
}
