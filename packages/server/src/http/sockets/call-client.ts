import { type ApiError, createApiError, type PhoneCarrier } from '@bothost/contract';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import { refuseUpgrade } from '../requests/failure-response.ts';
import { createPhoneCallMessageBuffer } from './call-message-buffer.ts';
import { readAgentFromCallStart } from './call-start.ts';
import {
  acceptWebSocketUpgrade,
  type IncomingWebSocketClient,
  type UpgradeRequest,
} from './incoming-websocket-client.ts';
import type { QualifiedAgentName } from './websocket-path.ts';

/** The WebSocket connection over which a carrier sends and receives the media stream of a call. */
export type PhoneCarrierConnection = IncomingWebSocketClient & {
  /**
   * Accepts the call and reads the name of its agent from the first messages.
   *
   * @throws failure `invalid-request`
   */
  readonly opening: () => Promise<QualifiedAgentName>;
};

/**
 * Creates the connection for a phone call. The service accepts the carrier's WebSocket as soon as an instance is claimed for the
 * call, because a cold start may take longer than a carrier waits. If the URL does not name the agent, the service accepts the
 * WebSocket earlier and reads the name from the first messages. The service buffers the carrier's messages until the bot is
 * ready. To reject a call, the service sends an HTTP error response if it has not accepted the WebSocket yet. Otherwise, it
 * closes the WebSocket with a close code.
 */
export function createPhoneCarrierConnection(
  server: WebSocketServer,
  upgrade: UpgradeRequest,
  carrier: PhoneCarrier,
  requestId: string,
): PhoneCarrierConnection {
  const { incoming, socket, early } = upgrade;
  const overflow = new AbortController();
  const held = createPhoneCallMessageBuffer(carrier);
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
    client = await acceptWebSocketUpgrade(server, upgrade);
    client?.on('message', hold);
    client?.on('error', () => client?.terminate());
    return client;
  }

  return {
    disconnected: AbortSignal.any([early.disconnected, overflow.signal]),
    opening: async () => {
      const answered = await answer();
      if (answered === null)
        throw createApiError('invalid-request', { message: 'The call ended before it was accepted.' });
      const opening = readAgentFromCallStart(answered, socket);
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

/** RFC 6455, section 7.4.1, and its IANA registry: 1013 try again later, 1001 going away, 1008 policy, 1011 internal error. */
function closeCode(error: ApiError): number {
  if (error.status === 429 || error.status === 503) return 1013;
  if (error.reason === 'session-ended') return 1001;
  return error.status < 500 ? 1008 : 1011;
}
