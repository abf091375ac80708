import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import type { Address } from '../sessions/session-directory.ts';

export type BotRequest = {
  readonly address: Address;
  /** With its query. */
  readonly path: string;
  readonly headers: Record<string, string | string[]>;
};

export type BotAnswer = {
  /** The bot began to answer; the body follows by itself. */
  readonly onAnswer: (status: number, headers: Record<string, string | string[] | undefined>) => void;
  /** It did not, and will not; called only while the client is still there. */
  readonly onFailure: (error: Error) => void;
};

/** RFC 9110 9.2.2: these may be sent again when their connection broke. */
const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/**
 * Requests to bots on behalf of clients: bodies stream both ways with back-pressure, and either side's end is the other's.
 * By undici, since a request through `node:http` costs the service half as much again.
 */
export function createBotRequests() {
  // Connections are kept for a session's next request; uvicorn closes idle ones after 5 s, so ours go first. A session's
  // request may stream for as long as the session lives, so nothing here has a time-out.
  const agent = new Agent({ keepAliveTimeout: 4_000, headersTimeout: 0, bodyTimeout: 0 });

  function send(request: BotRequest, incoming: IncomingMessage, response: ServerResponse, answer: BotAnswer): void {
    const { address, path, headers } = request;
    const isEmpty = hasNoBody(incoming);
    let controller: Dispatcher.DispatchController | undefined;
    let begun = false;
    let flowing = false;
    let again = isEmpty && idempotent.has(incoming.method ?? '');

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started;
        if (response.destroyed) started.abort(clientGone());
      },
      onResponseStart: (_, status, answered) => {
        // Interim answers (RFC 9110 15.2) are between the bot and the service.
        if (status < 200) return;
        begun = true;
        answer.onAnswer(status, answered);
        // Otherwise the headers of an endless answer would wait for its first byte.
        if (answered['content-length'] === undefined) setImmediate(() => flowing || response.flushHeaders());
      },
      onResponseData: (paused, chunk) => {
        flowing = true;
        if (!response.write(chunk)) paused.pause();
      },
      onResponseEnd: () => {
        flowing = true;
        response.end();
      },
      onResponseError: (_, error) => {
        if (begun || response.destroyed) return void response.destroy();
        if (!again || !isBroken(error)) return answer.onFailure(error);
        // The bot closed a kept connection just when it was used again.
        again = false;
        dispatch();
      },
    };
    response.on('drain', () => controller?.resume());
    response.on('close', () => {
      if (!response.writableFinished) controller?.abort(clientGone());
    });

    function dispatch() {
      const origin = `http://${address.host}:${address.port}`;
      const method = incoming.method as Dispatcher.HttpMethod;
      agent.dispatch({ origin, path, method, headers, body: isEmpty ? null : bodyOf(incoming) }, handler);
    }
    dispatch();
  }

  return { send, close: () => agent.destroy() };
}

/** A stream of its own, because a bot that answers before it read all must not cost the client its connection. */
function bodyOf(incoming: IncomingMessage): PassThrough {
  const body = new PassThrough();
  body.on('error', () => undefined);
  incoming.pipe(body);
  // What nobody wants any more is read all the same, since the next request comes after it.
  body.on('close', () => incoming.resume());
  return body;
}

function hasNoBody(incoming: IncomingMessage): boolean {
  const { 'content-length': size, 'transfer-encoding': coding } = incoming.headers;
  return coding === undefined && (size === undefined || size === '0');
}

function isBroken(error: Error): boolean {
  return 'code' in error && ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(String(error.code));
}

const clientGone = () => new Error('the client is gone');
