import { allOperations, listOperationPaths } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { evaluateJavaScriptInBot, sendRawBytes, sessionUrl, startAgentSession } from '../support/client.ts';
import { useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

const noSession = '01890000-0000-7000-8000-000000000000';

async function seen(response: Response) {
  const { requestId, ...body } = (await response.json()) as Record<string, unknown>;
  const { date, 'x-request-id': id, ...headers } = Object.fromEntries(response.headers);
  expect(requestId).toBe(id);
  return { status: response.status, body, headers };
}

const service = await useTestServer({ bots: { mine: {} } });
const other = await useSecondOrganization(service, { theirs: {} });
const sessionId = await startAgentSession(service, 'mine');

const ask = (method: string, path: string, key?: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}${path}`, {
    method,
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
  });

/** All requests that take an API key: one for each path of each operation, and one to the session proxy. */
const endpoints = [
  ...Object.values(allOperations)
    .filter(({ key }) => ['private', 'organization', 'public', 'account'].includes(key))
    .flatMap((operation) =>
      listOperationPaths(operation).map((path) => ({
        kind: operation.key === 'public' ? ('public' as const) : ('private' as const),
        method: operation.method as string,
        path: path
          .replace('{organization}', 'test-org')
          .replace('{agentName}', 'mine')
          .replace('{sessionId}', noSession)
          .replace('{keyId}', noSession),
      })),
    ),
  { kind: 'public' as const, method: 'GET', path: `/v1/public/mine/sessions/${noSession}/echo` },
  { kind: 'private' as const, method: 'GET', path: '/v1/no/such/path' },
  { kind: 'public' as const, method: 'POST', path: '/v1/public/no/such/path' },
];

describe('API keys', () => {
  it('are checked before anything else on every path of the APIs', async () => {
    for (const { kind, method, path } of endpoints) {
      const wrongKind = kind === 'public' ? service.privateKey : service.publicKey;
      const keys = [undefined, '', wrongKind, `${wrongKind}x`, `sk_${'z'.repeat(49)}`, 'x'.repeat(4000), "' or 1=1 --"];
      for (const key of keys) {
        const response = await ask(method, path, key);
        expect([method, path, key, response.status]).toEqual([method, path, key, 401]);
        expect(response.headers.get('www-authenticate')).toBe('Bearer');
        const body = (await response.json()) as Record<string, string>;
        expect(body).toMatchObject({
          code: '401',
          reason: /^sk_z|^pk|^sk|^x/.test(key ?? '') ? 'key-invalid' : expect.any(String),
        });
      }
    }
  });

  it.each([
    ['Basic', 'Basic c2s6cGs='],
    ['no word before it', 'KEY'],
    ['two keys', 'Bearer KEY KEY'],
    ['a comma', 'Bearer KEY,KEY'],
  ])('are refused in a malformed Authorization header: %s', async (_, form) => {
    const authorization = form.replaceAll('KEY', service.privateKey);
    expect((await ask('GET', '/v1/agents', undefined, { authorization })).status).toBe(401);
  });

  it('are refused in a URL, because logs contain URLs', async () => {
    expect((await ask('GET', `/v1/agents?access_token=${service.privateKey}`)).status).toBe(401);
  });

  it('are refused after their revocation, even by the session proxy', async () => {
    const { key, id } = await service.client.createKey({ body: { name: 'short-lived', kind: 'public' } });
    const url = `/v1/public/mine/sessions/${sessionId}/echo`;
    expect((await ask('GET', url, key)).status).toBe(200);
    await service.client.revokeKey({ params: { keyId: id } });
    expect((await ask('GET', url, key)).status).toBe(401);
    expect((await ask('POST', '/v1/public/mine/start', key)).status).toBe(401);
  });

  it('are refused after their expiry', async () => {
    const { key, expiresAt } = await service.client.createKey({
      body: { name: 'soon gone', kind: 'private', expiresInSeconds: 3 },
    });
    const end = Date.parse(String(expiresAt));
    expect((await ask('GET', '/v1/agents', key)).status).toBe(200);
    await expect.poll(() => Date.now()).toBeGreaterThanOrEqual(end);
    expect((await ask('GET', '/v1/agents', key)).status).toBe(401);
  });

  it("do not reveal through a WebSocket upgrade whether another organization's session exists", async () => {
    const upgrade = async (agent: string, id: string) => {
      const answer = await sendRawBytes(
        service,
        `GET /v1/public/${agent}/sessions/${id}/socket HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${other.publicKey}\r\n` +
          'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      );
      return answer.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID');
    };
    const theirs = await upgrade('mine', sessionId);
    expect(theirs).toMatch(/^HTTP\/1.1 404 /);
    expect(await upgrade('nobody', noSession)).toBe(theirs);
  });

  it('give access to a session by its UUID in upper or lower case, and by no other string', async () => {
    const path = (id: string) => `/v1/agents/mine/sessions/${id}`;
    expect((await ask('GET', path(sessionId.toUpperCase()), service.privateKey)).status).toBe(200);
    expect(
      (
        await fetch(sessionUrl(service, 'mine', sessionId.toUpperCase(), '/echo'), {
          headers: { authorization: `Bearer ${service.publicKey}` },
        })
      ).status,
    ).toBe(200);
    const nothing = await seen(await ask('GET', path(noSession), service.privateKey));
    for (const id of [
      '1',
      'null',
      `${sessionId}0`,
      `{${sessionId}}`,
      sessionId.replaceAll('-', ''),
      '%00',
      "'",
      '%F0%9F%90%A6',
      'a'.repeat(99),
    ]) {
      expect([id, await seen(await ask('GET', path(id), service.privateKey))]).toEqual([id, nothing]);
      expect([id, (await ask('DELETE', path(id), service.privateKey)).status]).toEqual([id, 404]);
      const proxied = `/v1/public/mine/sessions/${id}/echo`;
      expect([id, (await ask('GET', proxied, service.publicKey)).status]).toEqual([id, 404]);
      expect([id, (await ask('DELETE', `/v1/keys/${id}`, service.privateKey)).status]).toEqual([id, 404]);
    }
  });

  it('do not reveal the control token of a bot', async () => {
    const known = await evaluateJavaScriptInBot<string>(service, 'mine', sessionId, 'process.env.BOT_CONTROL_TOKEN');
    expect(known).toMatch(/^[0-9a-f]{64}$/);
    const record = await (await ask('GET', `/v1/agents/mine/sessions/${sessionId}`, service.privateKey)).text();
    expect(record).not.toContain(known);
  });
});
