import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { openTcpSocket, sendRawBytes } from '../support/client.ts';
import { useTestServer } from '../support/use-test-server.ts';

const service = await useTestServer({ bots: { plain: {}, 'open-door': { websocketAuth: 'none' } } });

async function ask(method: string, path: string, key: string, body?: string) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, answer, headers: response.headers };
}
const startWith = (body: string, agentName = 'plain') =>
  ask('POST', `/v1/public/${agentName}/start`, service.publicKey, body);

describe('request validation', () => {
  it.each([
    ['POST', '/v1/public/nobody/start', 404, 'not-found'],
    ['POST', '/v1/public/plain%00/start', 404, 'not-found'],
    ['POST', '/v1/public/%F0%9F%A6%9C/start', 404, 'not-found'],
    ['POST', `/v1/public/${'a'.repeat(400)}/start`, 404, 'not-found'],
    ['POST', '/v1/public//start', 404, 'not-found'],
    ['GET', '/v1/agents/%00', 404, 'not-found'],
    ['GET', '/v1/agents/%00/sessions', 404, 'not-found'],
    ['GET', '/v1/agents/a%2F..%2Fplain', 404, 'not-found'],
    ['GET', '/v1/agents/plain/sessions/', 404, 'not-found'],
    ['GET', '/v1/agents/%zz', 404, 'endpoint-not-found'],
    ['GET', '/v1/agents/%ff', 404, 'endpoint-not-found'],
    ['GET', `/v1/agents/${'a'.repeat(3000)}`, 404, 'endpoint-not-found'],
    ['GET', '/v1/organizations/%00/agents', 404, 'organization-not-found'],
    ['PUT', '/v1/agents/plain', 405, 'method-not-allowed'],
    ['GET', '/v1/public/plain/start', 405, 'method-not-allowed'],
    ['GET', '/v1/agents/plain/sessions?limit=0', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?limit=1e9', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?offset=-1', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?offset=99999999999999999999', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?status=dead', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?startTime=99999999999999', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?endTime=9007199254740991', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?startTime=soon', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?startTimeMax=Infinity', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?startTimeMin=1e400', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?cursor=%00', 400, 'invalid-request'],
    ['GET', `/v1/agents/plain/sessions?cursor=${cursor('1')}`, 400, 'invalid-request'],
    ['GET', `/v1/agents/plain/sessions?cursor=${cursor('+275760-01-01')}`, 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?endState=%00', 400, 'invalid-request'],
    ['GET', '/v1/agents/plain/sessions?limit=1&limit=2', 400, 'invalid-request'],
    ['GET', '/v1/agents?region=%00', 400, 'invalid-request'],
  ])('refuses a request with an invalid path or query: %s %s', async (method, path, status, reason) => {
    const isPublic = path.startsWith('/v1/public/');
    const { answer, ...seen } = await ask(method, path, isPublic ? service.publicKey : service.privateKey);
    expect([seen.status, answer]).toEqual([status, expect.objectContaining({ reason, code: String(status) })]);
    expect(answer['error']).not.toMatch(/[[\]]/);
    expect((await ask(method, path, 'none')).status).toBe(401);
  });

  const tooLong = 'x'.repeat(1_048_576);
  it.each([
    ['{', 400, 'invalid-json'],
    ['"text"', 400, 'invalid-request'],
    ['[]', 400, 'invalid-request'],
    ['{"__proto__": {"polluted": true}}', 400, 'invalid-request'],
    ['{"body": "text"}', 400, 'body-not-object'],
    ['{"body": [1]}', 400, 'body-not-object'],
    ['{"body": 0}', 400, 'body-not-object'],
    ['{"body": false}', 400, 'body-not-object'],
    ['{"transport": "carrier-pigeon"}', 400, 'invalid-request'],
    ['{"createDailyRoom": "yes"}', 400, 'invalid-request'],
    ['{"createDailyRoom": true}', 400, 'rooms-not-connected'],
    ['{"transport": "daily"}', 400, 'rooms-not-connected'],
    ['{"transport": "livekit"}', 400, 'livekit-not-configured'],
    [`${'['.repeat(100_000)}`, 400, 'invalid-request'],
    [`{"extra": "${tooLong}"}`, 413, 'body-too-large'],
    [`{"body": {"text": "${tooLong}"}}`, 413, 'body-too-large'],
    [`{"transport": "websocket", "body": {"text": "${'x'.repeat(4_096)}"}}`, 413, 'body-too-large'],
  ])('refuses the invalid start body in row %# and starts no session', async (body, status, reason) => {
    const { answer, ...seen } = await startWith(body);
    expect([seen.status, answer['reason']]).toEqual([status, reason]);
    expect(answer['info']).toBe(answer['error']);
    const query = { status: 'active' } as const;
    expect((await service.client.getSessions({ params: { agentName: 'plain' }, query })).sessions).toEqual([]);
  });

  it('refuses the field "body" in a WebSocket start of an agent that requires no token', async () => {
    const { status, answer } = await startWith('{"transport": "websocket", "body": {}}', 'open-door');
    expect([status, answer['reason']]).toEqual([400, 'body-needs-token']);
    const lowered = await startWith('{"transport": "websocket", "maxConversationLevel": "off"}', 'open-door');
    expect([lowered.status, lowered.answer['reason']]).toEqual([400, 'level-needs-token']);
  });

  it('refuses an endless body when it exceeds the limit', async () => {
    const socket = await openTcpSocket(service);
    socket.write(
      `POST /v1/public/plain/start HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.publicKey}\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    const push = () => socket.writable && socket.write(chunk, push);
    push();
    socket.on('error', () => undefined);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it('refuses headers that are too large and requests that are not HTTP', async () => {
    const large = await sendRawBytes(
      service,
      `GET /v1/agents HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(40_000)}\r\n\r\n`,
    );
    expect(large).toMatch(/^HTTP\/1\.1 431 [\s\S]*"headers-too-large"/);
    expect(await sendRawBytes(service, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*"not-http"/,
    );
  });

  it('refuses a NUL character in the name of an API key', async () => {
    const made = await ask('POST', '/v1/keys', service.privateKey, '{"name": "a\\u0000b", "kind": "public"}');
    expect([made.status, made.answer['reason']]).toEqual([400, 'invalid-request']);
  });
});

function cursor(time: string): string {
  return Buffer.from(`${time} 01890000-0000-7000-8000-000000000000`).toString('base64url');
}
