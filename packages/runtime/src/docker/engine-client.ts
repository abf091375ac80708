import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createTimeout } from '@bothost/contract';
import { Pool } from 'undici';
import { describeNetworkError } from '../describe-network-error.ts';
import { RuntimeUnavailableError } from '../runtime.ts';

/** The oldest version of the Docker Engine API that works: Debian 12 has it. */
const oldestMinor = 41;
/** The newest version that the driver was written for. Newer engines still offer it. */
const newestMinor = 44;
/** Milliseconds for a response without a stream. Creating a container can take long on a busy machine. */
const responseTimeoutMs = 60_000;

export type EngineRequest = {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

type Method = 'GET' | 'POST' | 'DELETE';

/** A connection to a Docker engine. Paths are those of the Docker Engine API, without the version. */
export type EngineClient = {
  /** Returns the parsed response, or null if it is empty. @throws EngineError */
  readonly call: (method: Method, path: string, request?: EngineRequest) => Promise<unknown>;
  /** Returns the body of a response that may take hours. @throws EngineError */
  readonly stream: (method: Method, path: string, request?: EngineRequest) => Promise<Readable>;
  readonly close: () => Promise<void>;
};

/** The engine refused a request. `status` is null if it did not respond. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly status: number | null;
  constructor(message: string, status: number | null, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export const isEngineError = (error: unknown, status: number | null): error is EngineError =>
  error instanceof EngineError && error.status === status;

/**
 * Connects to the engine at `unix:///path` and agrees on a version of the API.
 *
 * @throws RuntimeUnavailableError with a sentence for the operator
 */
export async function connectToEngine(host: string): Promise<EngineClient> {
  const [, socketPath] = /^unix:\/\/(\/.+)$/.exec(host) ?? [];
  if (socketPath === undefined) {
    throw new RuntimeUnavailableError(
      `"${host}" is not the address of a Docker engine on this machine. Set BOTHOST_DOCKER_HOST to unix:// and the path of the engine's socket.`,
    );
  }
  // The origin is only the Host header. Streams stay open for as long as instances run, so there is no limit of connections.
  const pool = new Pool('http://docker', { socketPath, headersTimeout: 0, bodyTimeout: 0 });
  try {
    const client = createClient(pool, await negotiateVersion(pool, socketPath), socketPath);
    return client;
  } catch (error) {
    await pool.destroy();
    throw error;
  }
}

async function negotiateVersion(pool: Pool, socketPath: string): Promise<string> {
  const response = await pool
    .request({ method: 'GET', path: '/_ping', signal: AbortSignal.timeout(responseTimeoutMs) })
    .catch((error: unknown) => {
      throw new RuntimeUnavailableError(
        `The Docker engine does not respond at ${socketPath} (${describeNetworkError(error)}). Start it, or set BOTHOST_DOCKER_HOST to its socket.`,
        { cause: error },
      );
    });
  await response.body.dump();
  const offered = String(response.headers['api-version'] ?? 'an unknown version');
  const minor = Number(/^1\.(\d+)$/.exec(offered)?.[1]);
  if (!(minor >= oldestMinor)) {
    throw new RuntimeUnavailableError(
      `The Docker engine at ${socketPath} offers ${offered} of its API, but bothost needs 1.${oldestMinor}. Install Docker Engine 20.10 or later.`,
    );
  }
  return `1.${Math.min(minor, newestMinor)}`;
}

function createClient(pool: Pool, version: string, socketPath: string): EngineClient {
  const send = async (method: Method, path: string, request: EngineRequest, signal: AbortSignal | undefined) => {
    const query = new URLSearchParams(request.query).toString();
    const response = await pool
      .request({
        method,
        path: `/v${version}${path}${query === '' ? '' : `?${query}`}`,
        headers: { ...(request.body === undefined ? {} : { 'content-type': 'application/json' }), ...request.headers },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: signal ?? null,
      })
      .catch((error: unknown) => {
        request.signal?.throwIfAborted();
        throw new EngineError(
          `The Docker engine does not respond at ${socketPath}: ${describeNetworkError(error)}.`,
          null,
          {
            cause: error,
          },
        );
      });
    if (response.statusCode < 400) return response.body;
    const body = await text(response.body).catch(() => '');
    throw new EngineError(
      readMessage(body) ?? `The Docker engine responded ${response.statusCode}.`,
      response.statusCode,
    );
  };
  return {
    call: async (method, path, request = {}) => {
      const timeout = createTimeout(responseTimeoutMs);
      const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
      const body = await send(method, path, request, signal);
      const content = await text(body).catch((error: unknown) => {
        request.signal?.throwIfAborted();
        throw new EngineError(`The Docker engine closed the connection: ${describeNetworkError(error)}.`, null, {
          cause: error,
        });
      });
      return content.trim() === '' ? null : JSON.parse(content);
    },
    stream: (method, path, request = {}) => send(method, path, request, request.signal),
    close: () => pool.destroy(),
  };
}

function readMessage(body: string): string | null {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    return typeof message === 'string' ? message.trim() : null;
  } catch {
    return null;
  }
}
