import { ApiError, ErrorResponse } from './errors.ts';
import { stringifyWithJsonText } from './json-text.ts';
import type { InputOf, Operation, ResponseOf } from './operation.ts';
import { type OperationName, type Operations, operations } from './operations/all.ts';
import { fillPathTemplate, listOperationPaths } from './paths.ts';

export type ApiClientOptions = {
  /** The origin of the service, such as `http://127.0.0.1:7420`. A trailing `/v1` is accepted. */
  readonly origin: string;
  /**
   * The credential of requests: a public API key for `startSession`; a private API key, a personal access token or the operator's
   * token for other operations. Without a key, requests have no `Authorization` header, and a browser sends the cookie of its
   * session.
   */
  readonly key?: string;
  /** If set, requests go to `/v1/organizations/{organization}/...`. */
  readonly organization?: string;
  readonly userAgent?: string;
  readonly fetch?: typeof fetch;
};

type Call<Name extends OperationName> =
  Record<string, never> extends InputOf<Operations[Name]>
    ? (input?: InputOf<Operations[Name]>, signal?: AbortSignal) => Promise<ResponseOf<Operations[Name]>>
    : (input: InputOf<Operations[Name]>, signal?: AbortSignal) => Promise<ResponseOf<Operations[Name]>>;

/**
 * One function per operation. Its promise rejects with an `ApiError` for an error response, and with a `ConnectionError` if the
 * response is missing or invalid.
 */
export type ApiClient = { readonly [Name in OperationName]: Call<Name> };

/** Thrown if the service cannot be reached, or if its response has an unexpected format. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

type AnyInput = { params?: object; query?: object; body?: unknown };

/**
 * Creates a typed client, derived from the operations.
 *
 * @example
 * const client = createApiClient({ origin: 'http://127.0.0.1:7420', key });
 * const session = await client.getSession({ params: { agentName: 'parrot', sessionId } });
 */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const calls: Partial<Record<OperationName, (input?: AnyInput, signal?: AbortSignal) => Promise<unknown>>> = {};
  for (const name of Object.keys(operations) as OperationName[]) {
    calls[name] = (input = {}, signal) => call(options, operations[name], input, signal);
  }
  return calls as ApiClient;
}

async function call(options: ApiClientOptions, operation: Operation, input: AnyInput, signal?: AbortSignal) {
  const response = await send(options, operation, input, signal);
  if (isRedirect(response)) throw new ConnectionError(describeRedirect(response));
  const body = await readJson(response, signal);
  if (!response.ok) throw toApiError(response.status, body);
  const parsed = operation.response.safeParse(body);
  if (!parsed.success) throw new ConnectionError('the response has an unexpected format');
  return parsed.data;
}

/** Returns whether a response is a redirect. Browsers hide the status of a redirect and set the type `opaqueredirect` instead. */
function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400);
}

function describeRedirect({ headers, url }: Response): string {
  const location = headers.get('location') ?? '';
  const target = URL.canParse(location, url) ? new URL(location, url).origin : 'another address';
  return `the service redirects to ${target}; the client does not follow redirects`;
}

async function send(options: ApiClientOptions, operation: Operation, input: AnyInput, signal?: AbortSignal) {
  const init: RequestInit = {
    method: operation.method,
    // Following a redirect would send the request, which may contain secrets, to another address.
    redirect: 'manual',
    headers: {
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(options.userAgent === undefined ? {} : { 'user-agent': options.userAgent }),
      ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(input.body === undefined ? {} : { body: stringifyWithJsonText(input.body) }),
    ...(signal === undefined ? {} : { signal }),
  };
  const url = buildUrl(options, operation, input);
  try {
    return await (options.fetch ?? fetch)(url, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ConnectionError(`cannot reach the service at ${url.origin}`, { cause: error });
  }
}

function buildUrl(options: ApiClientOptions, operation: Operation, input: AnyInput): URL {
  const paths = listOperationPaths(operation);
  const path = (options.organization === undefined ? paths[0] : paths.at(-1)) ?? '';
  const values = { ...(input.params as Record<string, string>), organization: options.organization ?? '' };
  const url = new URL(options.origin.replace(/\/+$/, '').replace(/\/v1$/, '') + fillPathTemplate(path, values));
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

async function readJson(response: Response, signal?: AbortSignal): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ConnectionError(`the response (status ${response.status}) is incomplete`, { cause: error });
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConnectionError(`the response (status ${response.status}) is not JSON`, { cause: error });
  }
}

/** Converts the status and the parsed body of a failed response to an error. */
export function toApiError(status: number, body: unknown): ApiError | ConnectionError {
  const parsed = ErrorResponse.safeParse(body);
  if (!parsed.success) return new ConnectionError(`the response (status ${status}) has an unexpected format`);
  const { error, code, reason, requestId, issues } = parsed.data;
  return new ApiError({
    reason: reason ?? 'unknown',
    status,
    code,
    message: error,
    requestId: requestId ?? null,
    ...(issues === undefined ? {} : { issues }),
  });
}
