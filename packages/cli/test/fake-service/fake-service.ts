import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ApiError,
  createApiError,
  createErrorBody,
  listOperationPaths,
  type Operation,
  type OperationName,
  type Operations,
  operations,
  type ResponseOf,
} from '@bothost/contract';

export type ReceivedRequest = {
  readonly operation: OperationName;
  readonly path: string;
  readonly key: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The text of the body. */
  readonly text: string;
  readonly userAgent: string;
};

/** Handlers throw this value to break the connection without a response. */
export const simulatedDisconnectError = new Error('close the connection without a response');

type Answers = { readonly [N in OperationName]?: (request: ReceivedRequest) => ResponseOf<Operations[N]> };

export type FakeService = {
  readonly origin: string;
  readonly requests: readonly ReceivedRequest[];
  readonly close: () => Promise<void>;
};

/**
 * Starts an HTTP server on a loopback port whose routes, authentication and errors follow the API contract. Requests and
 * responses are validated against the contract. `answers` maps operations to their handlers. `handleOther` is called for every
 * request that matches no operation of the contract, and returns whether it has handled the request.
 */
export async function startFakeService(
  keys: { privateKey: string; publicKey: string; operatorToken?: string },
  answers: Answers,
  handleOther: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<FakeService> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    if (handleOther(request, response)) return;
    void answer(request, keys, answers, requests).then(({ status, body }) => {
      if (body === simulatedDisconnectError) return request.socket.destroy();
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  keys: { privateKey: string; publicKey: string; operatorToken?: string },
  answers: Answers,
  requests: ReceivedRequest[],
): Promise<{ status: number; body: unknown }> {
  try {
    const one = await read(request);
    const operation: Operation = operations[one.operation];
    const expectedKeys = { public: keys.publicKey, operator: keys.operatorToken ?? '' };
    const key =
      operation.key === 'public' || operation.key === 'operator' ? expectedKeys[operation.key] : keys.privateKey;
    if (operation.key !== 'none' && one.key !== key) throw createApiError('key-invalid');
    operation.query.parse(one.query);
    operation.body.parse(one.body);
    requests.push(one);
    const handle = answers[one.operation];
    if (handle === undefined) throw new Error(`The test has no handler for the operation ${one.operation}.`);
    return { status: operation.status, body: operation.response.parse(handle(one)) };
  } catch (error) {
    if (error === simulatedDisconnectError) return { status: 0, body: simulatedDisconnectError };
    const known = error instanceof ApiError ? error : createApiError('internal', { message: String(error) });
    return { status: known.status, body: createErrorBody(known, 'request-1') };
  }
}

async function read(request: IncomingMessage): Promise<ReceivedRequest> {
  const url = new URL(request.url ?? '/', 'http://test');
  for (const [operation, value] of Object.entries(operations) as [OperationName, Operation][]) {
    for (const path of listOperationPaths(value)) {
      const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
      const match = pattern.exec(url.pathname);
      if (match === null || request.method !== value.method) continue;
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      return {
        operation,
        path: url.pathname,
        key: request.headers.authorization?.replace('Bearer ', '') ?? '',
        params: { ...match.groups },
        query: Object.fromEntries(url.searchParams),
        text,
        body: text === '' ? undefined : JSON.parse(text),
        userAgent: request.headers['user-agent'] ?? '',
      };
    }
  }
  throw createApiError('endpoint-not-found');
}
