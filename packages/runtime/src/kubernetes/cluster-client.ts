import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { createTimeout } from '@bothost/contract';
import { Agent, type Dispatcher, Pool } from 'undici';
import { z } from 'zod';
import { describeNetworkError } from '../describe-network-error.ts';
import type { ClusterAccess, ClusterCredentials } from './cluster-access.ts';

/** Milliseconds for a response without a stream. */
const defaultTimeoutMs = 30_000;
/** Requests that the API server could not serve are sent again, after 0.2, 0.4, 0.8 and 1.6 seconds or as long as it says. */
const attempts = 5;
const firstPauseMs = 200;
const maxPauseMs = 10_000;

export type ApiRequest = {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly contentType?: 'application/json' | 'application/merge-patch+json';
  readonly signal?: AbortSignal;
};

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export type ClusterClient = ReturnType<typeof createClusterClient>;

/** The API server refused a request, or did not respond (`status` null). `reason` is a word such as `AlreadyExists`. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
  readonly status: number | null;
  readonly reason: string | null;
  /** Milliseconds after which the API server wants the request again. */
  readonly retryAfterMs: number | null;
  constructor(
    message: string,
    options: ErrorOptions & {
      readonly status?: number;
      readonly reason?: string | undefined;
      readonly retryAfterMs?: number | null;
    } = {},
  ) {
    super(message, options);
    this.status = options.status ?? null;
    this.reason = options.reason ?? null;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

export const isClusterError = (error: unknown, status: number): error is ClusterError =>
  error instanceof ClusterError && error.status === status;

/** Whether the API server could not serve a request, although a later one may succeed. */
export const isUnavailable = (error: unknown): error is ClusterError =>
  error instanceof ClusterError && (error.status === null || error.status === 429 || error.status >= 500);

const statusSchema = z.object({ message: z.string().optional(), reason: z.string().optional() });

/** `random` returns a number from 0 to 1, by which pauses between attempts differ. */
export function createClusterClient(
  access: ClusterAccess,
  options: { readonly timeoutMs?: number; readonly random?: () => number } = {},
) {
  const { timeoutMs = defaultTimeoutMs, random = Math.random } = options;
  const { server } = access;
  const basePath = server.pathname.replace(/\/$/, '');
  const agents = createAgents(access);

  const sendWith = (credentials: ClusterCredentials, origin: string, { headers, ...options }: RequestOptions) => {
    const { token } = credentials;
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return agents
      .for(credentials)
      .request({ ...options, origin, headers: { accept: 'application/json', ...headers, ...authorization } })
      .catch((error: unknown) => {
        if (options.signal?.aborted === true) throw error;
        throw new ClusterError(`${origin} does not respond: ${describeNetworkError(error)}.`, { cause: error });
      });
  };

  const send = async (origin: string, options: RequestOptions): Promise<Dispatcher.ResponseData> => {
    const credentials = await access.readCredentials(null);
    const response = await sendWith(credentials, origin, options);
    if (response.statusCode !== 401) return response;
    await response.body.dump();
    return sendWith(await access.readCredentials(credentials), origin, options);
  };

  const requireSuccess = async (response: Dispatcher.ResponseData) => {
    if (response.statusCode < 400) return response.body;
    const body = await text(response.body).catch(() => '');
    const { message = `The API server responded ${response.statusCode}.`, reason } = parseStatus(body);
    const seconds = Number(response.headers['retry-after']);
    throw new ClusterError(message, {
      status: response.statusCode,
      reason,
      retryAfterMs: seconds > 0 ? seconds * 1000 : null,
    });
  };

  const callOnce = async (method: Method, path: string, request: ApiRequest): Promise<unknown> => {
    const timeout = createTimeout(timeoutMs);
    const signal = request.signal === undefined ? timeout : AbortSignal.any([request.signal, timeout]);
    const { body, contentType = 'application/json' } = request;
    try {
      const response = await send(server.origin, {
        method,
        path: `${basePath}${path}`,
        query: { ...request.query },
        headers: body === undefined ? {} : { 'content-type': contentType },
        body: body === undefined ? null : JSON.stringify(body),
        signal,
      });
      return JSON.parse(await text(await requireSuccess(response)));
    } catch (error) {
      if (error instanceof ClusterError || request.signal?.aborted === true) throw error;
      throw new ClusterError(`${server.origin} gave no complete response: ${describeNetworkError(error)}.`, {
        cause: error,
      });
    }
  };

  return {
    /**
     * Returns the parsed response. Sends a request again if the API server did not serve it, so the caller of a POST must expect
     * `AlreadyExists` for an object that this call created.
     *
     * @throws ClusterError, or the reason of the signal
     */
    call: async (method: Method, path: string, request: ApiRequest = {}): Promise<unknown> => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await callOnce(method, path, request);
        } catch (error) {
          request.signal?.throwIfAborted();
          if (attempt === attempts || !isUnavailable(error)) throw error;
          const pauseMs = error.retryAfterMs ?? firstPauseMs * 2 ** (attempt - 1) * (0.5 + random() / 2);
          await delay(Math.min(pauseMs, maxPauseMs), undefined, { signal: request.signal });
        }
      }
    },
    /** Returns the body of a response that may take hours. @throws ClusterError, or the reason of the signal */
    stream: async (path: string, { query, signal }: Pick<ApiRequest, 'query' | 'signal'> = {}): Promise<Readable> => {
      const request = { path: `${basePath}${path}`, query: { ...query }, signal: signal ?? null };
      return requireSuccess(await send(server.origin, { method: 'GET', ...request }));
    },
    /** Reads text from a kubelet, with the credentials of the cluster. `origin` is its URL. @throws ClusterError */
    readKubelet: async (origin: string, path: string): Promise<string> => {
      const signal = AbortSignal.timeout(timeoutMs);
      const headers = { accept: 'text/plain' };
      return text(await requireSuccess(await send(origin, { method: 'GET', path, headers, signal })));
    },
    close: agents.close,
  };
}

type RequestOptions = Omit<Dispatcher.RequestOptions, 'origin' | 'headers'> & {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | null;
};

/** Connections with the newest certificates. */
function createAgents({ server, tlsServerName, skipsVerification }: ClusterAccess) {
  let current: { readonly credentials: ClusterCredentials; readonly agent: Agent } | null = null;
  const all = new Set<Agent>();
  const open = ({ ca, cert, key }: ClusterCredentials) => {
    // Once for all connections, because it takes milliseconds.
    const tls = { secureContext: createSecureContext({ ca, cert, key }) };
    const apiTls = { ...tls, servername: tlsServerName, rejectUnauthorized: !skipsVerification };
    const agent = new Agent({
      factory: (origin) => {
        const connect = String(origin) === server.origin ? apiTls : tls;
        // Streams stay open for as long as instances run.
        return new Pool(origin, { headersTimeout: 0, bodyTimeout: 0, connect });
      },
    });
    all.add(agent);
    return agent;
  };
  /** Resolves when the streams of the agent have ended. */
  const retire = async (agent: Agent) => {
    await agent.close();
    all.delete(agent);
  };
  return {
    for: (credentials: ClusterCredentials): Agent => {
      const { ca, cert, key } = credentials;
      const isSame = (known: ClusterCredentials) => known.ca === ca && known.cert === cert && known.key === key;
      if (current !== null && isSame(current.credentials)) return current.agent;
      if (current !== null) void retire(current.agent);
      current = { credentials, agent: open(credentials) };
      return current.agent;
    },
    close: async () => {
      await Promise.all([...all].map((agent) => agent.destroy()));
    },
  };
}

function parseStatus(body: string): z.output<typeof statusSchema> {
  try {
    return statusSchema.parse(JSON.parse(body));
  } catch {
    return {};
  }
}
