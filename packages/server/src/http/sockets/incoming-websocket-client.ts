import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiError } from '@bothost/contract';
import type { WebSocket, WebSocketServer } from 'ws';
import { refuseUpgrade } from '../requests/failure-response.ts';
import type { ClientBytesBeforeResponse } from './bytes-before-response.ts';

/**
 * A WebSocket client of an agent. Implementations differ in when they accept the client, and in whether they hold
 * messages until the bot is connected.
 */
export type IncomingWebSocketClient = {
  readonly disconnected: AbortSignal;
  /** Called when an instance is claimed for the session of this client. The instance may still be starting. */
  readonly claimed: () => Promise<void>;
  /** Accepts the client and returns its paused WebSocket. Null if the client has disconnected. `bot` must be open. */
  readonly join: (bot: WebSocket) => Promise<WebSocket | null>;
  readonly refuse: (error: ApiError) => void;
};

/** An upgrade request that has no response yet. */
export type UpgradeRequest = {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly early: ClientBytesBeforeResponse;
};

/**
 * Creates a client that gets 101 only after its bot has accepted the WebSocket. So the 101 can name the subprotocol that the
 * bot chose, and an earlier failure is a plain HTTP response. The service holds no messages, because none arrive before the
 * 101.
 */
export function createIncomingWebSocketClient(
  server: WebSocketServer,
  upgrade: UpgradeRequest,
  requestId: string,
): IncomingWebSocketClient {
  const { incoming, socket, early } = upgrade;
  return {
    disconnected: early.disconnected,
    claimed: async () => undefined,
    join: (bot) => {
      if (bot.protocol === '') delete incoming.headers['sec-websocket-protocol'];
      else incoming.headers['sec-websocket-protocol'] = bot.protocol;
      return acceptWebSocketUpgrade(server, upgrade);
    },
    refuse: (error) => refuseUpgrade(socket, error, requestId),
  };
}

/** Sends 101 and returns a paused socket. Null if the client has disconnected. */
export function acceptWebSocketUpgrade(
  server: WebSocketServer,
  { incoming, socket, early }: UpgradeRequest,
): Promise<WebSocket | null> {
  return new Promise((resolve) => {
    early.disconnected.addEventListener('abort', () => resolve(null), { once: true });
    if (early.disconnected.aborted) resolve(null);
    else server.handleUpgrade(incoming, socket, early.take(), resolve);
  });
}
