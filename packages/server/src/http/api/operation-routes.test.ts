import { once } from 'node:events';
import { connect } from 'node:net';
import { allOperations, ErrorResponse, listOperationPaths, maxRequestBodyBytes } from '@bothost/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { useTestServer } from '../../../test/support/use-test-server.ts';

const operatorToken = 'o'.repeat(40);
const service = await useTestServer({
  environment: { BOTHOST_METRICS_TOKEN: 'scrape', BOTHOST_OPERATOR_TOKEN: operatorToken },
});

type TestRequest = { method?: string; key?: string | null; body?: string | Buffer; headers?: Record<string, string> };

/** Sends a request, with the private key by default. */
async function ask(path: string, { method = 'GET', key = service.privateKey, body, headers }: TestRequest = {}) {
  const answer = await fetch(service.url + path, {
    method,
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  const json: unknown = answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined;
  return { status: answer.status, headers: answer.headers, json, text };
}
const reasonOf = (answer: { json: unknown }) => (answer.json as { reason?: string }).reason;
const json = { 'content-type': 'application/json' };
/** A body larger than the limit, and larger than the socket buffers of both sides. */
const megabytes = ' '.repeat(32_000_000);

const all = Object.values(allOperations).flatMap((operation) =>
  listOperationPaths(operation).map((path) => [operation.method, path, operation.key, operation.bodyBytes] as const),
);

describe('the OpenAPI document', () => {
  type Entry = { readonly responses: Readonly<Record<string, unknown>> };
  let paths: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
  beforeAll(async () => {
    ({ paths } = (await ask('/v1/openapi.json')).json as { paths: typeof paths });
  });

  it.each(all)('documents every status with which %s %s rejects a request', async (method, path, kind, bodyBytes) => {
    const key = kind === 'operator' ? operatorToken : kind === 'public' ? service.publicKey : service.privateKey;
    const inOwn = path.replace('{organization}', service.organization).replace(/\{\w+\}/g, 'x');
    const inOther = path.replace(/\{\w+\}/g, 'x');
    const body = method === 'GET' ? {} : { body: '{"broken', headers: json };
    const answers = [
      await ask(inOwn, { method, key: null }),
      await ask(inOther, { method, key }),
      await ask(inOwn, { method, key, ...body }),
      ...(method === 'GET'
        ? []
        : [await ask(inOwn, { method, key, body: ' '.repeat((bodyBytes || maxRequestBodyBytes) + 1) })]),
    ];
    const { responses = {} } = paths[path]?.[method.toLowerCase()] ?? {};
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(answers.map(({ status }) => String(status))));
  });
});

describe('the API', () => {
  it.each([
    ['answers 404 for an unknown path inside the API', '/v1/nothing', 404, 'endpoint-not-found'],
    ['answers 404 for the root of the API', '/v1', 404, 'endpoint-not-found'],
    ['answers 404 for an unknown path outside the API', '/nothing', 404, 'endpoint-not-found'],
  ])('%s', async (_, path, status, reason) => {
    const answer = await ask(path);
    expect([answer.status, reasonOf(answer)]).toEqual([status, reason]);
  });

  it('answers an unknown API path with 401 if the key is wrong, and a path outside the API with 404', async () => {
    expect((await ask('/v1/nothing', { key: null })).status).toBe(401);
    expect((await ask('/nothing', { key: null })).status).toBe(404);
    expect((await ask('/v1/public/nothing', { key: service.privateKey })).status).toBe(401);
    expect((await ask('/v1/public/nothing', { key: service.publicKey })).status).toBe(404);
  });

  it.each([
    ['PUT', '/v1/agents', 'GET, POST'],
    ['POST', '/v1/agents/x/sessions/y', 'GET, DELETE'],
    ['DELETE', '/v1/keys', 'GET, POST'],
    ['PATCH', '/v1/keys/x', 'DELETE'],
    ['PUT', '/v1/organizations/test-org/properties', 'GET, PATCH'],
  ])('answers an unsupported method with 405 and the allowed methods: %s %s', async (method, path, allow) => {
    const answer = await ask(path, { method });
    expect([answer.status, reasonOf(answer)]).toEqual([405, 'method-not-allowed']);
    expect(answer.headers.get('allow')).toBe(allow);
  });
});

describe('request bodies', () => {
  const create = (body: string, headers: Record<string, string> = json) =>
    ask('/v1/keys', { method: 'POST', body, headers });

  it.each([
    '{"name"',
    '',
    'null',
    '[]',
    '"text"',
    '{"name":"x"}',
    '{"name":"x","kind":"other"}',
    '{"name":" ","kind":"public"}',
  ])('are rejected with 400 and an error object if they are invalid: %s', async (body) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(ErrorResponse.parse(answer.json)).toMatchObject({ code: '400', error: expect.any(String) });
  });

  it('are rejected with one error that lists all invalid fields', async () => {
    const answer = await create('{"name":"","kind":"x","expiresInSeconds":0}');
    const { issues = [] } = ErrorResponse.parse(answer.json);
    expect(issues.map(({ path }) => path)).toEqual(['body.name', 'body.kind', 'body.expiresInSeconds']);
    expect(answer.text).not.toMatch(/\[[a-z"]/);
  });

  it('are accepted with unknown fields', async () => {
    const answer = await create('{"name":"extra","kind":"public","color":"blue","__v":1}');
    expect(answer.status).toBe(201);
    expect(answer.json).not.toHaveProperty('color');
  });

  it.each<[string, Record<string, string>]>([
    ['an empty content type', { 'content-type': '' }],
    ['an invalid content type', { 'content-type': 'json' }],
    ['the content type of a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['the content type of text', { 'content-type': 'text/plain; charset=utf-8' }],
  ])('are parsed as JSON if the request has %s', async (_, headers) => {
    expect((await create('{"name":"typed","kind":"public"}', headers)).status).toBe(201);
  });

  it('are parsed as JSON if the request has no content type', async () => {
    const answer = await fetch(`${service.url}/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.privateKey}` },
      // `fetch` sends bytes unchanged and without a content type.
      body: new TextEncoder().encode('{"name":"untyped","kind":"public"}'),
    });
    expect(answer.status).toBe(201);
  });

  it.each([
    ['with a Content-Length', `content-length: ${megabytes.length}`, [megabytes]],
    ['in chunks', 'transfer-encoding: chunked', [`${megabytes.length.toString(16)}\r\n`, megabytes, '\r\n0\r\n\r\n']],
  ])(
    'are rejected with 413 if they exceed the size limit, even if the client reads only after sending everything: %s',
    async (_, header, pieces) => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.pause();
      const head = `POST /v1/keys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.privateKey}\r\n${header}\r\n\r\n`;
      for (const piece of [head, ...pieces]) {
        await new Promise<void>((resolve, reject) =>
          socket.write(piece, (error) => (error ? reject(error) : resolve())),
        );
      }
      socket.resume();
      const [response] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      expect(String(response)).toMatch(/^HTTP\/1\.1 413 /);
      expect(String(response)).toContain('"reason":"body-too-large"');
    },
  );

  it.each([
    [
      'bytes that are not UTF-8',
      Buffer.from([...Buffer.from('{"name":"x'), 0xff, ...Buffer.from('","kind":"public"}')]),
    ],
    ['half of a surrogate pair', Buffer.from('{"name":"x\\ud800","kind":"public"}')],
  ])('are rejected with 400 if they have %s', async (_, body) => {
    const answer = await ask('/v1/keys', { method: 'POST', body, headers: json });
    expect([answer.status, reasonOf(answer)]).toEqual([400, expect.stringMatching(/^invalid-/)]);
  });

  it('are rejected with 400 by PATCH /v1/properties if they have unknown fields', async () => {
    const answer = await ask('/v1/properties', { method: 'PATCH', body: '{"color":"blue"}', headers: json });
    expect(answer.status).toBe(400);
  });
});

describe('a request', () => {
  it.each([
    ['GET', '/v1/agents/'],
    ['GET', '/v1/agents//sessions'],
    ['GET', '/v1/agents/x/sessions/'],
    ['DELETE', '/v1/keys/'],
    ['GET', '/v1/organizations//agents'],
    ['DELETE', '/v1/agents//sessions/'],
  ])('with an empty path parameter gets 404 and never reaches another operation: %s %s', async (method, path) => {
    expect((await ask(path, { method })).status).toBe(404);
  });

  it('with invalid query parameters gets an error that names each invalid parameter', async () => {
    const answer = await ask('/v1/agents/x/sessions?limit=0&offset=-1&status=maybe&startTime=later');
    const { issues = [] } = ErrorResponse.parse(answer.json);
    expect(answer.status).toBe(400);
    expect(issues.map(({ path }) => path)).toEqual(['query.limit', 'query.offset', 'query.startTime', 'query.status']);
  });
});

describe('the paths of an organization', () => {
  it("accept the organization's name, and its id in upper or lower case", async () => {
    const { organizations } = z
      .object({ organizations: z.array(z.object({ id: z.string() })) })
      .parse((await ask('/v1/organizations')).json);
    const id = organizations[0]?.id ?? '';
    const plain = await ask('/v1/regions');
    for (const name of [service.organization, id, id.toUpperCase()]) {
      expect((await ask(`/v1/organizations/${name}/regions`)).json).toEqual(plain.json);
    }
  });
});

describe('every response', () => {
  it('has a unique request id, which the body of an error also contains', async () => {
    const [one, other] = [await ask('/v1/agents/nobody'), await ask('/v1/agents/nobody')];
    expect(ErrorResponse.parse(one.json).requestId).toBe(one.headers.get('x-request-id'));
    expect(one.headers.get('x-request-id')).not.toBe(other.headers.get('x-request-id'));
    expect((await ask('/v1/agents')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('has a request id from the service, even if the client sent one', async () => {
    const answer = await ask('/v1/agents', { headers: { 'x-request-id': 'mine' } });
    expect(answer.headers.get('x-request-id')).not.toBe('mine');
  });

  it('has the header `Cache-Control: no-store` if it comes from the API', async () => {
    expect((await ask('/v1/agents')).headers.get('cache-control')).toBe('no-store');
  });
});

describe('without an API key', () => {
  it('the OpenAPI document is served and contains the URL of this service', async () => {
    const { status, json: document } = await ask('/v1/openapi.json', { key: null });
    expect(status).toBe(200);
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: service.url }] });
  });

  it('the probes report that the service is live and ready', async () => {
    expect(await ask('/healthz', { key: null })).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await ask('/readyz', { key: null })).toMatchObject({ status: 200, json: { status: 'ready' } });
  });

  it('`/v1/ice-servers` returns an empty list of ICE servers', async () => {
    expect((await ask('/v1/ice-servers', { key: null })).json).toEqual({ iceConfig: { iceServers: [] } });
  });

  it('the metrics are refused with 401, because they require the metrics token', async () => {
    for (const key of [null, 'wrong', service.privateKey]) expect((await ask('/metrics', { key })).status).toBe(401);
    const { status, text } = await ask('/metrics', { key: 'scrape' });
    expect(status).toBe(200);
    for (const name of [
      'bothost_sessions',
      'bothost_instances',
      'bothost_pool_depth',
      'bothost_session_start_seconds',
    ]) {
      expect(text).toContain(`# TYPE ${name}`);
    }
  });
});

it('/properties/schema lists the settings in the field `properties`, where existing clients read them', async () => {
  const { json } = await ask('/v1/organizations/test-org/properties/schema');
  expect(json).toEqual({
    properties: { defaultRegion: expect.objectContaining({ type: 'string', currentValue: 'us-west' }) },
  });
});
