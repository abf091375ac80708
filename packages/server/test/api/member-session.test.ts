import { once } from 'node:events';
import { createApiClient } from '@bothost/contract';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { deriveKeyFromRootKey, openDataDirectory } from '../../src/composition/data-directory.ts';
import { signToken } from '../../src/session-starts/socket-token.ts';
import { writeBot } from '../support/bots.ts';
import { createBearerTokenHeaders, sessionUrl, stopAgentSession, waitForSessionEnd } from '../support/client.ts';
import { signUpPerson, type TestPerson } from '../support/people.ts';
import { startTestServer } from '../support/test-server.ts';
import { useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

const agentName = 'talker';

let logged = '';
const write = (line: string) => {
  logged += line;
};
const service = await useTestServer({
  bots: { talker: {}, other: {}, open: { websocketAuth: 'none' } },
  logger: pino({ level: 'trace' }, { write }),
});
const second = await useSecondOrganization(service, { talker: {} });
const people = {
  owner: await signUpPerson(service, 'owner'),
  member: await signUpPerson(service, 'member', 'member'),
  viewer: await signUpPerson(service, 'viewer', 'viewer'),
};

const within = (person: TestPerson) => person.within(service.organization);
const start = (transport?: 'websocket' | 'webrtc', person = people.owner) =>
  within(person).startMemberSession({ params: { agentName }, body: transport === undefined ? {} : { transport } });
const bearerKey = async () => {
  const { rootKey } = await openDataDirectory(service.dataDirectory, process.geteuid?.() === 0, undefined);
  return deriveKeyFromRootKey(rootKey, 'socket-token');
};
const echo = (name: string, sessionId: string, token: string, path = '/echo') =>
  fetch(sessionUrl(service, name, sessionId, path), createBearerTokenHeaders(token));
const statusAndReason = async (response: Response) => {
  const { reason } = (await response.json()) as { reason?: string };
  return `${response.status} ${reason}`;
};
async function connect(url: string, headers: Record<string, string> = {}): Promise<WebSocket | number> {
  const socket = new WebSocket(url, { headers });
  socket.on('error', () => undefined);
  const opened = once(socket, 'open').then(() => socket);
  const refused = once(socket, 'unexpected-response').then(([, answer]) => answer.statusCode as number);
  return Promise.race([opened, refused]);
}

describe('startMemberSession', () => {
  describe.each(['owner', 'member'] as const)('as %s', (role) => {
    it('opens the session proxy, and its WebSocket upgrades, with the token of the response', async () => {
      const { sessionId = '', token = '' } = await start(undefined, people[role]);
      const response = await echo(agentName, sessionId, token);
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).toContain(sessionId);
      expect(text).not.toContain(token);
      const url = `${sessionUrl(service, agentName, sessionId, '/any').replace('http', 'ws')}?access_token=${token}`;
      const socket = await connect(url);
      expect(socket).toBeInstanceOf(WebSocket);
      if (socket instanceof WebSocket) socket.close();
      await stopAgentSession(service, agentName, sessionId);
    });

    it('opens the WebSocket of the session once, and its proxy, with the token of the response', async () => {
      const { sessionId = '', wsUrl = '', token = '' } = await start('websocket', people[role]);
      const socket = await connect(`${wsUrl}?token=${token}`);
      expect(socket).toBeInstanceOf(WebSocket);
      expect((await echo(agentName, sessionId, token)).status).toBe(200);
      expect(await connect(`${wsUrl}?token=${token}`)).toBe(403);
      if (socket instanceof WebSocket) socket.close();
      expect((await waitForSessionEnd(service, agentName, sessionId)).completionStatus).toBe('WS_CONNECTION_CLOSED');
    });
  });

  it('starts sessions with a personal access token', async () => {
    const { token: key } = await people.member.client.createPersonalToken({ body: { name: 'laptop' } });
    const client = createApiClient({ origin: service.url, key, organization: service.organization });
    const { sessionId = '', token = '' } = await client.startMemberSession({ params: { agentName } });
    expect((await echo(agentName, sessionId, token)).status).toBe(200);
    await stopAgentSession(service, agentName, sessionId);
  });

  it('refuses a viewer with 403 until the owner allows it', async () => {
    const viewer = () => start(undefined, people.viewer);
    const setting = (viewersCanStartSessions: boolean) =>
      within(people.owner).updateOrganization({ body: { viewersCanStartSessions } });
    await expect(viewer()).rejects.toMatchObject({ status: 403, reason: 'forbidden' });
    await expect(
      within(people.member).updateOrganization({ body: { viewersCanStartSessions: true } }),
    ).rejects.toMatchObject({ status: 403 });
    expect(await setting(true)).toMatchObject({ name: service.organization, viewersCanStartSessions: true });
    const user = await people.viewer.client.getUser();
    expect(user.organizations).toMatchObject([{ role: 'viewer', viewersCanStartSessions: true }]);
    const { sessionId = '' } = await viewer();
    await stopAgentSession(service, agentName, sessionId);
    await setting(false);
    await expect(viewer()).rejects.toMatchObject({ status: 403 });
  });

  it('refuses keys, other organizations, and cookies that another site sends', async () => {
    const url = `${service.url}/v1/organizations/${service.organization}/agents/${agentName}/start`;
    const attempt = async (headers: Record<string, string>, target = url) =>
      statusAndReason(await fetch(target, { method: 'POST', headers }));
    const cookie = people.owner.cookie();
    expect(await attempt({})).toBe('401 key-missing');
    expect(await attempt({ authorization: `Bearer ${service.publicKey}` })).toBe('401 key-invalid');
    expect(await attempt({ authorization: `Bearer ${service.privateKey}` })).toBe('403 forbidden');
    expect(await attempt({ cookie })).toBe('403 cross-site-request');
    expect(await attempt({ cookie, 'sec-fetch-site': 'cross-site' })).toBe('403 cross-site-request');
    expect(await attempt({ cookie, 'sec-fetch-site': 'same-site' })).toBe('403 cross-site-request');
    expect(await attempt({ cookie, origin: 'https://evil.example' })).toBe('403 cross-site-request');
    expect(
      await attempt({ cookie, 'sec-fetch-site': 'same-origin' }, url.replace(service.organization, second.name)),
    ).toBe('404 organization-not-found');
  });

  it('never accepts cookies or personal access tokens below /v1/public and /ws', async () => {
    const { sessionId = '' } = await start();
    const { token: personal } = await people.owner.client.createPersonalToken({ body: { name: 'phone' } });
    const cookies = { cookie: people.owner.cookie(), 'sec-fetch-site': 'same-origin', origin: service.url };
    const proxy = sessionUrl(service, agentName, sessionId, '/echo');
    const startUrl = `${service.url}/v1/public/${agentName}/start`;
    for (const [url, method] of [
      [proxy, 'GET'],
      [startUrl, 'POST'],
      [`${service.url}/v1/public/${agentName}`, 'GET'],
    ] as const) {
      expect(await statusAndReason(await fetch(url, { method, headers: cookies }))).toBe('401 key-missing');
      expect(await statusAndReason(await fetch(url, { method, ...createBearerTokenHeaders(personal) }))).toBe(
        '401 key-invalid',
      );
    }
    const socketUrl = `${service.url.replace('http', 'ws')}/ws/generic/${agentName}.${service.organization}`;
    expect(await connect(socketUrl, cookies)).toBe(403);
    expect(await connect(`${socketUrl}?token=${personal}`)).toBe(403);
    expect(await connect(proxy.replace('http', 'ws'), cookies)).toBe(401);
    await stopAgentSession(service, agentName, sessionId);
  });

  it('returns a token that opens no other session, agent, organization or operation', async () => {
    const { sessionId = '', token = '' } = await start();
    const neighbor = await start();
    const open = await service.publicClient.startSession({ params: { agentName: 'other' } });
    const foreign = await createApiClient({ origin: service.url, key: second.publicKey }).startSession({
      params: { agentName },
    });
    const key = await bearerKey();
    const genuine = { agent: agentName, org: service.organization, session: sessionId, exp: 4_000_000_000 };
    const [payload = '', mac = ''] = token.split('.');
    const altered = Buffer.from(payload, 'base64url')
      .toString()
      .replace(sessionId, neighbor.sessionId ?? '');
    const attempts: Record<string, Promise<Response>> = {
      'other session': echo(agentName, neighbor.sessionId ?? '', token),
      'missing session': echo(agentName, '01890000-0000-7000-8000-000000000000', token),
      'other agent': echo('other', open.sessionId ?? '', token),
      'session of another agent': echo('other', sessionId, token),
      'other organization': echo(agentName, foreign.sessionId ?? '', token),
      'no organization': echo(agentName, sessionId, signToken(key, genuine)),
      expired: echo(agentName, sessionId, signToken(key, { ...genuine, organizationId: sessionId, exp: 1 })),
      altered: echo(agentName, neighbor.sessionId ?? '', `${Buffer.from(altered).toString('base64url')}.${mac}`),
      'without MAC': echo(agentName, sessionId, payload),
    };
    const { organizations } = await people.owner.client.getUser();
    for (const path of [
      `public/${agentName}`,
      'agents',
      `agents/${agentName}/sessions/${sessionId}`,
      'user',
      `organizations/${organizations[0]?.id}/agents`,
      'operator/vault',
    ]) {
      attempts[path] = fetch(`${service.url}/v1/${path}`, createBearerTokenHeaders(token));
    }
    for (const path of [
      `public/${agentName}/start`,
      `organizations/${service.organization}/agents/${agentName}/start`,
    ]) {
      attempts[path] = fetch(`${service.url}/v1/${path}`, { method: 'POST', ...createBearerTokenHeaders(token) });
    }
    const results = Object.entries(attempts).map(async ([name, sent]) => [name, await statusAndReason(await sent)]);
    const refused = Object.keys(attempts).map((name) => [name, '401 key-invalid']);
    expect(Object.fromEntries(await Promise.all(results))).toEqual(Object.fromEntries(refused));
    const socketUrl = `${service.url.replace('http', 'ws')}/ws/generic/${agentName}.${service.organization}`;
    expect(await connect(`${socketUrl}?token=${token}`)).toBe(403);
    // Another organization's id in a genuine token selects the sessions of that organization only.
    const moved = signToken(key, { ...genuine, organizationId: '01890000-0000-7000-8000-000000000000' });
    expect((await echo(agentName, sessionId, moved)).status).not.toBe(200);
    // The own session stays open to the genuine token, except on the reserved paths of its bot.
    expect((await echo(agentName, sessionId, token)).status).toBe(200);
    expect(await statusAndReason(await echo(agentName, sessionId, token, '/bot'))).toBe('404 not-found');
    await stopAgentSession(service, agentName, sessionId);
    await waitForSessionEnd(service, agentName, sessionId);
    expect(await statusAndReason(await echo(agentName, sessionId, token))).toBe('404 not-found');
    await stopAgentSession(service, agentName, neighbor.sessionId ?? '');
    await stopAgentSession(service, 'other', open.sessionId ?? '');
  });

  it('returns a token that opens no WebSocket of another session or agent', async () => {
    const { sessionId = '', wsUrl = '', token = '' } = await start('websocket');
    expect(await connect(`${wsUrl.replace(`${agentName}.`, 'other.')}?token=${token}`)).toBe(403);
    expect(await connect(`${wsUrl.replace(service.organization, second.name)}?token=${token}`)).toBe(403);
    await stopAgentSession(service, agentName, sessionId);
    expect(await connect(`${wsUrl}?token=${token}`)).toBe(403);
  });

  it('keeps the token of a start with a public key out of the session proxy', async () => {
    const { sessionId = '', token = '' } = await service.publicClient.startSession({
      params: { agentName },
      body: { transport: 'websocket' },
    });
    expect(await statusAndReason(await echo(agentName, sessionId, token))).toBe('401 key-invalid');
    await stopAgentSession(service, agentName, sessionId);
  });

  it('returns only the address if the agent requires no token', async () => {
    const params = { agentName: 'open' };
    const answer = await within(people.owner).startMemberSession({ params, body: { transport: 'websocket' } });
    expect(Object.keys(answer)).toEqual(['wsUrl']);
  });

  it('records who started a session, and refusals, in the audit log', async () => {
    const { sessionId = '' } = await start(undefined, people.member);
    await expect(start(undefined, people.viewer)).rejects.toMatchObject({ status: 403 });
    const { entries } = await service.client.listAuditEntries({ query: { action: 'sessions.start' } });
    expect(entries).toContainEqual(
      expect.objectContaining({ object: sessionId, result: 'done', userEmail: people.member.email }),
    );
    expect(entries).toContainEqual(expect.objectContaining({ result: 'forbidden', userEmail: people.viewer.email }));
    await stopAgentSession(service, agentName, sessionId);
  });

  it('writes the token to no log of the service', async () => {
    const { sessionId = '', wsUrl = '', token = '' } = await start('websocket');
    await fetch(`${wsUrl.replace('ws', 'http')}?token=${token}`);
    await fetch(`${wsUrl.replace('ws', 'http')}/${token}`);
    await fetch(`${service.url}/v1/public/${agentName}?access_token=${token}`);
    await echo(agentName, sessionId, token, '/bot');
    await connect(`${sessionUrl(service, 'other', sessionId, '/any').replace('http', 'ws')}?access_token=${token}`);
    expect(logged).toContain('/ws/generic/...');
    expect(logged).not.toContain(token.split('.')[1]);
    await stopAgentSession(service, agentName, sessionId);
  });
});

describe('the session proxy', () => {
  it('forwards no cookies to the bot', async () => {
    const bot = await writeBot(agentName);
    const service = await startTestServer({ agents: [bot.path] });
    const owner = await signUpPerson(service, 'owner');
    const { sessionId = '', token = '' } = await owner
      .within(service.organization)
      .startMemberSession({ params: { agentName } });
    const headers = { cookie: `${owner.cookie()}; own=1`, authorization: `Bearer ${token}` };
    const response = await fetch(sessionUrl(service, agentName, sessionId, '/echo'), { headers });
    expect(await response.json()).toMatchObject({
      headers: expect.not.objectContaining({ cookie: expect.anything() }),
    });
    await service.close();
    await bot.remove();
  });
});
