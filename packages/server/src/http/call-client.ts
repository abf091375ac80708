import { type ApiError, type Carrier, failure } from '@bothost/contract';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import { readOpening } from './call-opening.ts';
import { refuseUpgrade } from './failure-response.ts';
import { createHeldCall } from './held-call.ts';
import { accept, type SocketClient, type Upgrade } from './socket-client.ts';
import type { ServiceHost } from './socket-path.ts';

/** A carrier's media stream. */
export type CallClient = SocketClient & {
  /** Answers the call and reads from its first messages whom it is for. @throws failure `invalid-request` */
  readonly opening: () => Promise<ServiceHost>;
};

/**
 * A carrier is answered 101 as soon as its call has an instance, or before, where only the call's messages say whom it is
 * for: a carrier gives up a handshake sooner than a cold bot starts. What it says until the bot is there is kept and told to the bot
 * first (bot contract 4.4). A refusal before the 101 is plain HTTP, after it a close code.
 */
export function createCallClient(
  server: WebSocketServer,
  upgrade: Upgrade,
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
    // No carrier offers subprotocols, and no bot is there to choose.
    delete incoming.headers['sec-websocket-protocol'];
    client = await accept(server, upgrade);
    client?.on('message', hold);
    client?.on('error', () => client?.terminate());
    return client;
  }

  return {
    gone: AbortSignal.any([early.gone, overflow.signal]),
    opening: async () => {
      const answered = await answer();
      if (answered === null) throw failure('invalid-request', { message: 'The call ended before it was answered.' });
      const opening = readOpening(answered, socket);
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

/** RFC 6455 7.4.1 and the registry that it opened: try again later, going away, policy, a fault of ours. */
function closeCode(error: ApiError): number {
  if (error.status === 429 || error.status === 503) return 1013;
  if (error.reason === 'session-ended') return 1001;
  return error.status < 500 ? 1008 : 1011;
}
