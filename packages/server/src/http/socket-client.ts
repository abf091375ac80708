import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiError } from '@bothost/contract';
import type { WebSocket, WebSocketServer } from 'ws';
import type { EarlyData } from './early-bytes.ts';
import { refuseUpgrade } from './failure-response.ts';

/**
 * A client that connects to an agent. Kinds differ in when they are accepted, and in what they may send before the bot is
 * ready.
 */
export type SocketClient = {
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal;
  /** Called when it has an instance, which may still be starting. */
  readonly claimed: () => Promise<void>;
  /**
   * Called when the bot is connected: sends it the client's messages so far. Returns a paused socket; null if the client
   * disconnected.
   */
  readonly join: (bot: WebSocket) => Promise<WebSocket | null>;
  readonly refuse: (error: ApiError) => void;
};

/** A client's upgrade request that has no response yet. */
export type Upgrade = { readonly incoming: IncomingMessage; readonly socket: Duplex; readonly early: EarlyData };

/**
 * A client that gets 101 once its bot has accepted the socket, and plain HTTP before: it learns the subprotocol that the bot
 * chose, and none of its messages has to be held.
 */
export function createWebSocketClient(server: WebSocketServer, upgrade: Upgrade, requestId: string): SocketClient {
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

/** Sends 101. Returns a paused socket; null if the client disconnected. */
export function accept(server: WebSocketServer, { incoming, socket, early }: Upgrade): Promise<WebSocket | null> {
  return new Promise((resolve) => {
    early.gone.addEventListener('abort', () => resolve(null), { once: true });
    if (early.gone.aborted) resolve(null);
    else server.handleUpgrade(incoming, socket, early.take(), resolve);
  });
}
