import type { ClientRequest, IncomingMessage } from 'node:http';
import type { SessionCompletionStatus } from '@bothost/contract';
import { WebSocket } from 'ws';
import { type BotAddress, getAddressAuthority } from '../../instances/address.ts';
import { connectToBot, isConnectError } from '../../instances/connect.ts';
import { createBotRequestHeaders } from '../requests/forwarded-headers.ts';
import type { RequestClient } from '../requests/request-client.ts';

/** The HTTP response of a bot that rejected the WebSocket. */
export type BotResponse = { readonly status: number; readonly phrase: string };

/** Thrown if the bot does not accept the WebSocket. `answer` is null if the bot sent no HTTP response. */
export class BotRefusedSocketError extends Error {
  override readonly name = 'BotRefusedSocketError';
  readonly status: SessionCompletionStatus;
  readonly answer: BotResponse | null;
  /** Whether no connection to the bot was established, so that it certainly does not have the session. */
  readonly isUndelivered: boolean;
  constructor(status: SessionCompletionStatus, answer: BotResponse | null = null, isUndelivered = false) {
    super(`the bot did not accept the socket: ${status}`);
    this.status = status;
    this.answer = answer;
    this.isUndelivered = isUndelivered;
  }
}

/**
 * Opens a WebSocket to the path `/ws` of an instance, with the client's query and headers and the headers of the session. Returns
 * a paused WebSocket, so that no message is lost before the client is connected. Rejects with `BotRefusedSocketError`.
 */
export function openBotSocket(
  address: BotAddress,
  query: string,
  incoming: IncomingMessage,
  client: RequestClient,
  session: { readonly sessionId: string; readonly headers: () => Readonly<Record<string, string>> },
  limits: { readonly signal: AbortSignal; readonly messageBytes: number },
): Promise<WebSocket> {
  const offered = incoming.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  const headers = Object.fromEntries(
    Object.entries({
      ...createBotRequestHeaders(incoming.headers, session.sessionId, client),
      ...session.headers(),
    }).filter(([name]) => !name.startsWith('sec-websocket-')),
  );
  const { signal, messageBytes } = limits;
  const options = {
    headers,
    perMessageDeflate: false,
    maxPayload: messageBytes,
    signal,
    // Set the target here, because the library parses URLs, which changes some characters of a query.
    finishRequest: (request: ClientRequest) => {
      request.path = `/ws${query}`;
      request.end();
    },
    createConnection: () => connectToBot(address),
  } as const;
  return new Promise((resolve, reject) => {
    const bot = new WebSocket(`ws://${getAddressAuthority(address)}`, offered, options);
    bot.once('open', () => {
      bot.pause();
      resolve(bot);
    });
    bot.once('unexpected-response', (_, answer) => {
      answer.resume();
      reject(refusalOf(answer));
      bot.terminate();
    });
    bot.on('error', (error) => reject(new BotRefusedSocketError('HTTP_ERROR', null, isConnectError(error))));
  });
}

/**
 * Converts the response of a bot that rejected the WebSocket. The bot chooses the reason phrase, so it is shortened and cleaned:
 * error messages must not contain square brackets, which an existing client treats as markup.
 */
function refusalOf({ statusCode, statusMessage = '' }: IncomingMessage): BotRefusedSocketError {
  if (statusCode === undefined) return new BotRefusedSocketError('HTTP_ERROR');
  const phrase = statusMessage
    .replaceAll(/[^ -~]|[[\]]/g, '')
    .slice(0, 60)
    .trim();
  return new BotRefusedSocketError(`${statusCode}`, { status: statusCode, phrase });
}
