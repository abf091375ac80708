import { type ApiError, type Carrier, failure } from '@bothost/contract';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import { readCallOpening } from './call-opening.ts';
import { refuseUpgrade } from './failure-response.ts';
import { createHeldCall } from './held-call.ts';
import { acceptUpgrade, type SocketClient, type UpgradeRequest } from './socket-client.ts';
import type { ServiceHost } from './socket-path.ts';

/** Client for the media stream of a carrier. */
export type CallClient = SocketClient & {
  /**
   * Accepts the call and reads the name of its agent from the first messages.
   *
   * @throws failure `invalid-request`
   */
  readonly opening: () => Promise<ServiceHost>;
};

/**
 * Creates the client for a phone call. A cold start may take longer than a carrier waits for the handshake. So the service
 * sends 101 as soon as an instance is claimed for the call. If only the messages of the call name the agent, the service sends
 * 101 before the claim. Messages that arrive before the bot is ready are held and then sent to the bot. A rejection before the
 * 101 is an HTTP response; a later rejection is a close code.
 */
export function createCallClient(
  server: WebSocketServer,
  upgrade: UpgradeRequest,
  carrier: Carrier,
  requestId: string,
): CallClient {
  const { incoming, socket, early } = upgrade;
  const overflow = new AbortController();
  const held = createHeldCall(carrier);
  let client: WebSocket | null = null;

  const hold = (data: RawData, isBinary: boolean) => {
    if (held.add(data, isBinary)) return;
    client?.off('message', hold);
    client?.close(1008, 'too much before the bot was there');
    overflow.abort();
  };

  async function answer(): Promise<WebSocket | null> {
    // Remove the subprotocols from the request. Only the bot could choose one, and no bot is connected yet. Carriers offer no
    // subprotocols.
    delete incoming.headers['sec-websocket-protocol'];
    client = await acceptUpgrade(server, upgrade);
    client?.on('message', hold);
    client?.on('error', () => client?.terminate());
    return client;
  }

  return {
    disconnected: AbortSignal.any([early.disconnected, overflow.signal]),
    opening: async () => {
      const answered = await answer();
      if (answered === null) throw failure('invalid-request', { message: 'The call ended before it was accepted.' });
      const opening = readCallOpening(answered, socket);
      answered.resume();
      return opening;
    },
    claimed: async () => {
      if (client === null) (await answer())?.resume();
    },
    join: async (bot) => {
      if (client === null || client.readyState !== client.OPEN) return null;
      client.pause();
      client.off('message', hold);
      for (const { data, isBinary } of held.messages()) bot.send(data, { binary: isBinary });
      return client;
    },
    refuse: (error) => {
      if (client === null) return refuseUpgrade(socket, error, requestId);
      client.off('message', hold);
      client.close(closeCode(error), error.reason);
    },
  };
}

/**
 * Returns a close code (RFC 6455, section 7.4.1, and its IANA registry): 1013 try again later, 1001 going away, 1008 policy
 * violation, 1011 internal error.
 */
function closeCode(error: ApiError): number {
  if (error.status === 429 || error.status === 503) return 1013;
  if (error.reason === 'session-ended') return 1001;
  return error.status < 500 ? 1008 : 1011;
}
