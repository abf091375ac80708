import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiError } from '@bothost/contract';
import type { WebSocket, WebSocketServer } from 'ws';
import type { EarlyData } from './early-bytes.ts';
import { refuseUpgrade } from './failure-response.ts';

/** A client of an agent. Implementations differ in when they accept the client, and in what it may send before that. */
export type SocketClient = {
  /** Aborts when the client disconnects. */
  readonly disconnected: AbortSignal;
  /** Prepares the client once an instance is claimed for its session. That instance may still be starting. */
  readonly claimed: () => Promise<void>;
  /** Accepts the client and returns its paused WebSocket. Null if the client has disconnected. */
  readonly join: (bot: WebSocket) => Promise<WebSocket | null>;
  readonly refuse: (error: ApiError) => void;
};

/** An upgrade request from a client that has not been answered yet. */
export type Upgrade = { readonly incoming: IncomingMessage; readonly socket: Duplex; readonly early: EarlyData };

/**
 * Creates a client that gets 101 only after its bot has accepted the WebSocket, and a plain HTTP response if it fails
 * before. The 101 names the subprotocol that the bot chose, and no message has to be held.
 */
export function createWebSocketClient(server: WebSocketServer, upgrade: Upgrade, requestId: string): SocketClient {
  const { incoming, socket, early } = upgrade;
  return {
    disconnected: early.disconnected,
    claimed: async () => undefined,
    join: (bot) => {
      if (bot.protocol === '') delete incoming.headers['sec-websocket-protocol'];
      else incoming.headers['sec-websocket-protocol'] = bot.protocol;
      return accept(server, upgrade);
    },
    refuse: (error) => refuseUpgrade(socket, error, requestId),
  };
}

/** Sends 101 and returns a paused socket. Null if the client has disconnected. */
export function accept(server: WebSocketServer, { incoming, socket, early }: Upgrade): Promise<WebSocket | null> {
  return new Promise((resolve) => {
    early.disconnected.addEventListener('abort', () => resolve(null), { once: true });
    if (early.disconnected.aborted) resolve(null);
    else server.handleUpgrade(incoming, socket, early.take(), resolve);
  });
}
