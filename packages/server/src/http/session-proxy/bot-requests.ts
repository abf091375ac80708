import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import type { buildConnector, Dispatcher } from 'undici';
import createConnector from 'undici/lib/core/connect.js';
import errors from 'undici/lib/core/errors.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { type BotAddress, getAddressAuthority } from '../../instances/address.ts';

export type RequestToBot = {
  readonly address: BotAddress;
  readonly path: string;
  readonly headers: Record<string, string | string[]>;
};

export type BotResponseHandlers = {
  /** Called with the status and headers of the bot's response. Its body is then piped to the client. */
  readonly onAnswer: (status: number, headers: Record<string, string | string[] | undefined>) => void;
  /** Called if there will be no response and the client is still connected. */
  readonly onFailure: (error: Error) => void;
  /** Called when the response to the client has ended or its connection has closed. */
  readonly onClose: () => void;
};

/** Idempotent methods (RFC 9110, section 9.2.2) may be retried after a lost connection. */
const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Streams requests to bots with back-pressure. Uses undici, because `node:http` takes 50 % more CPU time. */
export function createBotRequestForwarder() {
  // Keep an idle connection for 4 s, for the next request of the session. uvicorn closes idle connections after 5 s.
  // There is no other time limit, because a request may stream as long as its session lasts.
  const agent = new Agent({ keepAliveTimeout: 4_000, headersTimeout: 0, bodyTimeout: 0, connect });

  /** Returns a function that aborts the request. */
  function send(
    request: RequestToBot,
    incoming: IncomingMessage,
    response: ServerResponse,
    answer: BotResponseHandlers,
  ): (reason: Error) => void {
    const { address, path, headers } = request;
    const isEmpty = hasNoBody(incoming);
    let controller: Dispatcher.DispatchController | undefined;
    let begun = false;
    let hasNoContent = false;
    let flowing = false;
    let again = isEmpty && idempotent.has(incoming.method ?? '');

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started;
        if (response.destroyed) started.abort(clientGone());
      },
      onResponseStart: (_, status, answered) => {
        // Interim responses (RFC 9110 15.2) are not forwarded.
        if (status < 200) return;
        begun = true;
        hasNoContent = status === 204 || status === 304;
        answer.onAnswer(status, answered);
        // Send the headers now. Otherwise, they would wait for the first byte of the body.
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
        // undici expects a body of this length, but these responses have none (RFC 9110, section 8.6).
        if (hasNoContent && error instanceof errors.ResponseContentLengthMismatchError) return void response.end();
        if (begun || response.destroyed) return void response.destroy();
        if (!again || !isBroken(error)) return answer.onFailure(error);
        // The bot closed the reused connection at the moment when the request was sent, so send the request once more.
        again = false;
        dispatch();
      },
    };
    response.on('drain', () => controller?.resume());
    // Add no second listener of `close`. Node would then create an array for each request, V8 would allocate these arrays in its old
    // generation, and each would keep its finished request in memory until a full garbage collection. That costs a quarter of the
    // requests per second.
    response.on('close', () => {
      if (!response.writableFinished) controller?.abort(clientGone());
      answer.onClose();
    });

    function dispatch() {
      const method = incoming.method as Dispatcher.HttpMethod;
      const body = isEmpty ? null : bodyOf(incoming);
      const origin = originOf(address);
      agent.dispatch(
        { origin, path, method, headers: { ...headers, host: getAddressAuthority(address) }, body },
        handler,
      );
    }
    dispatch();
    return (reason) => controller?.abort(reason);
  }

  return { send, close: () => agent.destroy() };
}

/** undici pools connections by origin, so the path of a Unix socket is encoded as a host name. */
const socketHost = /^([0-9a-f]+)\.socket$/;

function originOf(address: BotAddress): string {
  const host =
    'socket' in address ? `${Buffer.from(address.socket).toString('hex')}.socket` : getAddressAuthority(address);
  return `http://${host}`;
}

const connectTcp = createConnector({});

function connect(options: buildConnector.Options, done: buildConnector.Callback): void {
  const path = socketHost.exec(options.hostname)?.[1];
  const connector =
    path === undefined ? connectTcp : createConnector({ socketPath: Buffer.from(path, 'hex').toString() });
  connector(options, done);
}

/** Copies the request body, because undici destroys its stream if the bot responds early. The client's connection stays open. */
function bodyOf(incoming: IncomingMessage): PassThrough {
  const body = new PassThrough();
  body.on('error', () => undefined);
  incoming.pipe(body);
  // Read the rest of the body, because the client's next request follows the body on the same connection.
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

const clientGone = () => new Error('the client disconnected');
