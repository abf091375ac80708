import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { ConnectionError, createApiClient } from './client.ts';
import { ApiError, createApiError, createErrorBody } from './errors.ts';
import type { RequestOf, ResponseOf } from './operation.ts';
import type { Operations } from './operations/all.ts';
import type { SessionResponse } from './operations/sessions.ts';

type ReceivedRequest = { method?: string; url?: string; headers: IncomingMessage['headers']; body: string };

const key = 'sk_test';
const organizations = { organizations: [{ id: '1', name: 'acme', verboseName: 'Acme' }] };
const sessions = { total_count: 0, sessions: [], nextCursor: null };

let server: Server;
let origin: string;
let seen: ReceivedRequest[];
/** Writes the response of the test server. Each test assigns the function that it needs. */
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  seen = [];
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const { method, url, headers } = request;
      seen.push({ headers, body, ...(method === undefined ? {} : { method }), ...(url === undefined ? {} : { url }) });
      answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  if (server.listening) {
    server.close();
    await once(server, 'close');
  }
});

function json(status: number, value: unknown) {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
}

function text(status: number, value: string) {
  return (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'text/html' }).end(value);
  };
}

describe('the requests of a client', () => {
  it('returns an end state that this version does not know', async () => {
    const id = '01900000-0000-7000-8000-000000000001';
    const time = '2026-11-20T12:00:00.000Z';
    const session = {
      sessionId: id,
      serviceId: id,
      organizationId: id,
      deploymentId: id,
      endedAt: time,
      botStartSeconds: 0,
      botStartMilliseconds: 0,
      coldStart: false,
      completionStatus: 'CALL_TRANSFERRED',
      createdAt: time,
      updatedAt: time,
      endState: 'transferred',
    };
    answer = (response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...sessions, sessions: [session] }));
    const page = await createApiClient({ origin, key }).getSessions({ params: { agentName: 'parrot' } });
    expect(page.sessions[0]?.endState).toBe('transferred');
  });

  it('contain the key and the user agent, but no body if the operation takes no body', async () => {
    answer = json(200, organizations);
    const client = createApiClient({ origin, key, userAgent: 'botcli/1' });
    expect(await client.listOrganizations()).toEqual(organizations);
    expect(seen).toMatchObject([{ method: 'GET', url: '/v1/organizations', body: '' }]);
    expect(seen[0]?.headers).toMatchObject({ authorization: `Bearer ${key}`, 'user-agent': 'botcli/1' });
    expect(seen[0]?.headers).not.toHaveProperty('content-type');
  });

  it('contain the body as JSON', async () => {
    answer = json(200, { sessionId: 's' });
    await createApiClient({ origin, key }).startSession({
      params: { agentName: 'parrot' },
      body: { transport: 'webrtc', body: { name: 'Ada' } },
    });
    expect(seen).toMatchObject([{ method: 'POST', url: '/v1/public/parrot/start' }]);
    expect(seen[0]?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ transport: 'webrtc', body: { name: 'Ada' } });
  });

  it('encode the values in path and query, and omit undefined values', async () => {
    answer = json(200, sessions);
    await createApiClient({ origin, key }).getSessions({
      params: { agentName: 'a/b?c' },
      query: { limit: 5, cursor: 'x&y=z +/', deploymentId: undefined },
    });
    const url = new URL(seen[0]?.url ?? '', origin);
    expect(url.pathname).toBe('/v1/agents/a%2Fb%3Fc/sessions');
    expect(Object.fromEntries(url.searchParams)).toEqual({ limit: '5', cursor: 'x&y=z +/' });
  });

  it('use a path below /v1/organizations/NAME if the client has an organization and the operation accepts one', async () => {
    answer = json(200, sessions);
    const client = createApiClient({ origin, key, organization: 'acme & co' });
    await client.getSessions({ params: { agentName: 'parrot' } });
    answer = json(200, organizations);
    await client.listOrganizations();
    answer = json(200, {});
    await client.startSession({ params: { agentName: 'parrot' } });
    expect(seen.map(({ url }) => url)).toEqual([
      '/v1/organizations/acme%20%26%20co/agents/parrot/sessions',
      '/v1/organizations',
      '/v1/public/parrot/start',
    ]);
  });

  it.each(['', '/', '/v1', '/v1/'])('go to the same path for an origin that ends with %j', async (ending) => {
    answer = json(200, organizations);
    await createApiClient({ origin: origin + ending, key }).listOrganizations();
    expect(seen[0]?.url).toBe('/v1/organizations');
  });

  it('keep the path of the base URL, such as /bots/v1, as a prefix', async () => {
    answer = json(200, organizations);
    await createApiClient({ origin: `${origin}/bots/v1`, key }).listOrganizations();
    expect(seen[0]?.url).toBe('/bots/v1/organizations');
  });

  it.each(['..', '.', ''])('are not sent for an agent called %j, which would change the path', async (agentName) => {
    await expect(createApiClient({ origin, key }).getAgent({ params: { agentName } })).rejects.toMatchObject({
      name: 'ApiError',
      status: 404,
    });
    expect(seen).toEqual([]);
  });

  it('reject with the reason of the abort signal when the signal is aborted', async () => {
    const abort = new AbortController();
    answer = () => abort.abort(new Error('enough'));
    await expect(createApiClient({ origin, key }).listOrganizations({}, abort.signal)).rejects.toThrow('enough');
  });
});

describe('a client', () => {
  it('throws an ApiError with all fields of an error response', async () => {
    const issues = [{ path: 'body.name', message: 'Too short.' }];
    answer = json(400, createErrorBody(createApiError('invalid-request', { issues }), 'request-7'));
    const error = await createApiClient({ origin, key })
      .listOrganizations()
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      code: '400',
      reason: 'invalid-request',
      requestId: 'request-7',
      issues,
      message: 'The request is not valid.',
    });
  });

  it('throws an ApiError for a response that has only the fields error and code', async () => {
    answer = json(404, { error: 'Agent not found', code: '404' });
    await expect(createApiClient({ origin, key }).listOrganizations()).rejects.toMatchObject({
      name: 'ApiError',
      reason: 'unknown',
      requestId: null,
    });
  });

  it.each([
    ['a page of a proxy', text(502, '<h1>Bad gateway</h1>'), /status 502/],
    ['a page that claims success', text(200, '<h1>Welcome</h1>'), /status 200/],
    ['nothing', text(200, ''), /not JSON/],
    ['JSON of another shape', json(200, { hello: 'world' }), /unexpected format/],
    ['an error of another shape', json(500, { message: 'no' }), /status 500/],
  ])('throws a ConnectionError for a response with unexpected content: %s', async (_, respond, says) => {
    answer = respond;
    const error = await createApiClient({ origin, key })
      .listOrganizations()
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toMatch(says);
  });

  it('throws a ConnectionError for an incomplete response', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"organizations":', () => response.destroy());
    };
    const error = await createApiClient({ origin, key })
      .listOrganizations()
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ConnectionError);
  });

  it('throws a ConnectionError with the address, but without the key, if the service is unreachable', async () => {
    server.close();
    await once(server, 'close');
    const error = await createApiClient({ origin, key })
      .listOrganizations()
      .catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toContain(origin);
    expect((error as Error).message).not.toContain(key);
  });

  it('accepts a response with unknown fields', async () => {
    answer = json(200, { ...organizations, tomorrow: true });
    expect(await createApiClient({ origin, key }).listOrganizations()).toEqual(organizations);
  });
});

describe('the TypeScript types of operations', () => {
  const client = createApiClient({ origin: 'http://127.0.0.1:1', key });

  it('give a session exactly the fields of the contract', () => {
    expectTypeOf<ResponseOf<Operations['getSession']>>().toEqualTypeOf<SessionResponse>();
    expectTypeOf(client.getSession).returns.resolves.toEqualTypeOf<SessionResponse>();
    expectTypeOf<SessionResponse['endedAt']>().toEqualTypeOf<string | null>();
    // @ts-expect-error unknown field
    expectTypeOf<SessionResponse['ended_at']>();
  });

  it('do not allow a handler to return an invalid response', () => {
    type Handler = (request: RequestOf<Operations['stopSession']>) => Promise<ResponseOf<Operations['stopSession']>>;
    const right: Handler = async ({ params }) => ({ status: 'terminated', session_id: params.sessionId });
    // @ts-expect-error invalid value
    const wrongValue: Handler = async ({ params }) => ({ status: 'gone', session_id: params.sessionId });
    // @ts-expect-error invalid name
    const wrongName: Handler = async ({ params }) => ({ status: 'terminated', sessionId: params.sessionId });
    expect([right, wrongValue, wrongName]).toHaveLength(3);
  });

  it('require only the mandatory input of a client call', () => {
    expectTypeOf(client.listOrganizations).toBeCallableWith();
    expectTypeOf(client.getSession).parameter(0).toHaveProperty('params');
    // @ts-expect-error missing parameters
    const withoutParameters = () => client.getSession();
    // @ts-expect-error missing session id
    const withoutSession = () => client.getSession({ params: { agentName: 'parrot' } });
    // @ts-expect-error unknown transport
    const wrongTransport = () => client.startSession({ params: { agentName: 'x' }, body: { transport: 'pigeon' } });
    expect([withoutParameters, withoutSession, wrongTransport]).toHaveLength(3);
  });

  it('describe the query of a server handler as parsed, with defaults filled in', () => {
    expectTypeOf<RequestOf<Operations['getSessions']>['query']['limit']>().toEqualTypeOf<number>();
    expectTypeOf<RequestOf<Operations['listOrganizations']>['body']>().toEqualTypeOf<undefined>();
  });
});

it.each([301, 302, 307, 308])(
  'the client rejects a redirect with status %i and sends no request to the target of the redirect',
  async (status) => {
    answer = (response) =>
      response.writeHead(status, { location: `http://localhost:${new URL(origin).port}/x?key=1` }).end();
    const body = { secrets: [{ secretKey: 'A', secretValue: 'hunter2' }] };
    const asked = createApiClient({ origin, key }).putSecrets({ params: { setName: 'a' }, body });
    await expect(asked).rejects.toThrow(
      new ConnectionError(
        `the service redirects to http://localhost:${new URL(origin).port}; the client does not follow redirects`,
      ),
    );
    expect(seen).toHaveLength(1);
  },
);
