import type { IncomingMessage } from 'node:http';
import type { CompletionStatus } from '@bothost/contract';
import { WebSocket } from 'ws';
import { headersForBot } from './forwarded-headers.ts';

/** What a bot answered in place of taking the socket. */
export type Refusal = { readonly status: number; readonly phrase: string };

/**
 * The bot did not take the socket; `status` is the session's completion status. `answer` is null of a bot that gave none.
 */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: CompletionStatus;
  readonly answer: Refusal | null;
  constructor(status: CompletionStatus, answer: Refusal | null = null) {
    super(`the bot did not accept the socket: ${status}`);
    this.status = status;
    this.answer = answer;
  }
}

/**
 * Opens an instance's `/ws` with what its client asked for and what only the service may say (`headers`). The socket is
 * paused, so that nothing the bot says is lost before the client can hear it. Rejects with `Refused`.
 */
export function openBot(
  url: string,
  incoming: IncomingMessage,
  session: { readonly sessionId: string; readonly headers: Readonly<Record<string, string>> },
  limits: { readonly signal: AbortSignal; readonly messageBytes: number },
): Promise<WebSocket> {
  const offered = incoming.headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  const headers = Object.fromEntries(
    Object.entries({ ...headersForBot(incoming.headers, session.sessionId), ...session.headers }).filter(
      ([name]) => !name.startsWith('sec-websocket-'),
    ),
  );
  const { signal, messageBytes } = limits;
  const options = { headers, perMessageDeflate: false, maxPayload: messageBytes, signal } as const;
  return new Promise((resolve, reject) => {
    const bot = new WebSocket(url, offered, options);
    bot.once('open', () => {
      bot.pause();
      resolve(bot);
    });
    bot.once('unexpected-response', (_, answer) => {
      answer.resume();
      reject(refusalOf(answer));
      bot.terminate();
    });
    bot.on('error', () => reject(new Refused('HTTP_ERROR')));
  });
}

/** A bot may say anything after its status: it reaches messages, which hold no square brackets. */
function refusalOf({ statusCode, statusMessage = '' }: IncomingMessage): Refused {
  if (statusCode === undefined) return new Refused('HTTP_ERROR');
  const phrase = statusMessage
    .replaceAll(/[^ -~]|[[\]]/g, '')
    .slice(0, 60)
    .trim();
  return new Refused(`${statusCode}`, { status: statusCode, phrase });
}
