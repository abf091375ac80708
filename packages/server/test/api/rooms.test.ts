import { createHmac } from 'node:crypto';
import { createApiClient } from '@bothost/contract';
import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { sendRawRequest } from '../support/ask.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  stopAgentSession,
  waitForSessionEnd,
} from '../support/client.ts';
import { startDailyStandIn } from '../support/daily.ts';
import { useDatabase, useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

const daily = await startDailyStandIn();
afterAll(daily.close);
const service = await useTestServer({
  bots: { default: {}, single: { maxAgents: 1 } },
  environment: { BOTHOST_DAILY_API_URL: daily.url, BOTHOST_PUBLIC_URL: 'https://bots.example.com' },
});
const second = await useSecondOrganization(service, { default: {} });
const db = await useDatabase(service);
const connect = (apiKey = daily.apiKey, ...[dialinSecret]: [(string | null)?]) =>
  service.client.connectRooms({
    params: { provider: 'daily' },
    body: dialinSecret === undefined ? { apiKey } : { apiKey, dialinSecret },
  });
await connect();

const nowSeconds = () => Math.floor(Date.now() / 1000);

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}/v1/public/${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers,
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}
const start = (body: unknown, agentName = 'default') =>
  post(`${agentName}/start`, body, createBearerTokenHeaders(service.publicKey).headers);
async function startInRoom(body: Record<string, unknown> = {}) {
  const { status, json } = await start({ createDailyRoom: true, ...body });
  expect({ status, json }).toMatchObject({ status: 200 });
  return { sessionId: String(json['sessionId']), json };
}
type BotStart = { headers: Record<string, string>; body: string };
const readStart = (sessionId: string) =>
  evaluateJavaScriptInBot<BotStart>(service, 'default', sessionId, 'state.starts[0]');
const countSessions = async () => (await service.client.getSessions({ params: { agentName: 'default' } })).total_count;
const waitUntilNoRoom = () => expect.poll(daily.rooms, { timeout: 20_000, interval: 50 }).toEqual([]);

afterEach(async () => {
  const { sessions } = await service.client.getSessions({
    params: { agentName: 'default' },
    query: { status: 'active' },
  });
  for (const { sessionId } of sessions) await stopAgentSession(service, 'default', sessionId);
  await waitUntilNoRoom();
});

describe('a session in a room', () => {
  it('has a private room that expires, an owner token for its bot, and another token for its client', async () => {
    const before = nowSeconds();
    const { json } = await startInRoom({ dailyRoomProperties: { max_participants: 2 }, body: { caller: 'anna' } });
    const sessionId = String(json['sessionId']);
    const name = `bothost-${sessionId.replaceAll('-', '')}`;
    expect(json).toEqual({
      sessionId,
      dailyRoom: `https://stand-in.daily.co/${name}`,
      dailyToken: expect.any(String),
    });
    const [room] = daily.rooms();
    const exp = Number(room?.exp);
    expect(room).toMatchObject({
      name,
      privacy: 'private',
      properties: { exp, eject_at_room_exp: true, max_participants: 2 },
    });
    // The longest start, the longest session, and ten minutes.
    expect(exp - before).toBeGreaterThanOrEqual(300 + 7_200 + 600);
    expect(exp - nowSeconds()).toBeLessThanOrEqual(300 + 7_200 + 600);
    const { headers, body } = await readStart(sessionId);
    expect(headers).toMatchObject({
      'x-daily-room-url': json['dailyRoom'],
      'x-transport-type': 'daily',
      'x-daily-transport-type': 'daily',
    });
    const botToken = headers['x-daily-room-token'] ?? '';
    expect(daily.tokens.get(botToken)).toEqual({ room_name: name, exp, is_owner: true });
    expect(daily.tokens.get(String(json['dailyToken']))).toEqual({ room_name: name, exp });
    expect(body).toBe('{"caller":"anna"}');
  });

  it('starts with the transport daily, and with the properties of room and token as they are given', async () => {
    const exp = nowSeconds() + 900;
    const sip = { display_name: 'Anna', sip_mode: 'dial-in', num_endpoints: 1 };
    const { status, json } = await start({
      transport: 'daily',
      dailyRoomProperties: { exp, sip, enable_dialout: true },
      dailyMeetingTokenProperties: { user_name: 'Anna', exp: exp - 1, room_name: 'of another session' },
    });
    expect(status).toBe(200);
    const [room] = daily.rooms();
    expect(room?.properties).toEqual({ exp, eject_at_room_exp: true, sip, enable_dialout: true });
    expect(daily.tokens.get(String(json['dailyToken']))).toEqual({
      user_name: 'Anna',
      exp: exp - 1,
      room_name: room?.name,
    });
  });

  it('gets no room if the caller made one, with createDailyRoom: false', async () => {
    const { json } = await start({
      transport: 'daily',
      createDailyRoom: false,
      body: { room_url: 'https://x', token: 't' },
    });
    expect(Object.keys(json)).toEqual(['sessionId']);
    expect((await readStart(String(json['sessionId']))).headers).not.toHaveProperty('x-daily-room-url');
    expect(daily.rooms()).toEqual([]);
  });

  it('gives the key of Daily to a bot that connects a call, and to no other one', async () => {
    const dialin = { dialin_settings: { call_id: 'c', call_domain: 'd' } };
    const phone = await startInRoom({ body: dialin });
    expect(JSON.parse((await readStart(phone.sessionId)).body)).toEqual({
      ...dialin,
      daily_api_key: daily.apiKey,
      daily_api_url: daily.url,
    });
    const own = await startInRoom({ body: { ...dialin, daily_api_key: 'of the caller' } });
    expect(JSON.parse((await readStart(own.sessionId)).body)).toMatchObject({ daily_api_key: 'of the caller' });
    const elsewhere = { ...dialin, daily_api_url: 'https://example.com' };
    const diverted = await startInRoom({ body: elsewhere });
    expect(JSON.parse((await readStart(diverted.sessionId)).body)).toEqual(elsewhere);
    const plain = await startInRoom({ body: {} });
    expect((await readStart(plain.sessionId)).body).toBe('{}');
  });

  it('stores neither the key of Daily nor the token of the bot in readable form', async () => {
    const { sessionId } = await startInRoom({ body: { dialin_settings: {} } });
    const token = (await readStart(sessionId)).headers['x-daily-room-token'] ?? '';
    const { rows } =
      await sql`select to_jsonb(sessions) as row from sessions union all select to_jsonb(session_rooms) from session_rooms
      union all select to_jsonb(provider_keys) from provider_keys`.execute(db);
    const stored = JSON.stringify(rows);
    for (const secret of [daily.apiKey, token]) {
      expect(stored).not.toContain(secret);
      expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
    }
    expect(stored).toContain(sessionId);
  });

  it('loses its room at its end, however often Daily refuses to delete it', async () => {
    const { sessionId } = await startInRoom();
    daily.fail('DELETE', { status: 429, body: '{"error":"rate-limit-error"}' });
    daily.fail('DELETE', { status: 502, body: '<html>', type: 'text/html' });
    await evaluateJavaScriptInBot(service, 'default', sessionId, 'state.end(200, "{}")');
    await waitForSessionEnd(service, 'default', sessionId);
    await waitUntilNoRoom();
    const name = `bothost-${sessionId.replaceAll('-', '')}`;
    expect(daily.requests.filter((line) => line === `DELETE /rooms/${name}`)).toHaveLength(3);
  });

  it('has the meetings that its bot reports', async () => {
    const { sessionId } = await startInRoom();
    const meetings = [{ meetingId: 'm-1', participantId: 'p-1' }];
    const body = JSON.stringify({ meetings });
    await evaluateJavaScriptInBot(service, 'default', sessionId, `state.end(200, ${JSON.stringify(body)})`);
    expect((await waitForSessionEnd(service, 'default', sessionId)).meetingIds).toEqual(meetings);
  });
});

describe('a start in a room that fails', () => {
  it.each<[string, Parameters<typeof daily.fail>, number, string, RegExp]>([
    [
      'a revoked key',
      ['POST /rooms', { status: 401, body: '{"error":"authentication-error"}' }],
      502,
      'rooms-key-refused',
      /Connect a new one/,
    ],
    [
      'a token that cannot be made',
      ['POST /meeting-tokens', { status: 500, body: '{}' }],
      502,
      'rooms-unavailable',
      /500/,
    ],
  ])('says what to do after %s, and leaves neither session nor room', async (_, fault, status, reason, message) => {
    const before = await countSessions();
    daily.fail(...fault);
    const answer = await start({ createDailyRoom: true });
    expect(answer).toMatchObject({ status, json: { reason, error: expect.stringMatching(message) } });
    expect(JSON.stringify(answer)).not.toContain(daily.apiKey);
    expect(await countSessions()).toBe(before);
    await db.updateTable('session_rooms').set({ delete_at: new Date() }).where('delete_at', 'is not', null).execute();
    const count = async () =>
      (await db.selectFrom('session_rooms').select('name').where('deleted_at', 'is', null).execute()).length;
    await expect.poll(count, { timeout: 20_000, interval: 50 }).toBe(0);
    await waitUntilNoRoom();
  });

  it('deletes the room of a start at capacity', async () => {
    const { json } = await start({}, 'single');
    const before = daily.requests.length;
    expect(await start({ createDailyRoom: true }, 'single')).toMatchObject({
      status: 429,
      json: { reason: 'at-capacity' },
    });
    await waitUntilNoRoom();
    expect(daily.requests.slice(before)).toContain('POST /rooms');
    await stopAgentSession(service, 'single', String(json['sessionId']));
  });

  it('asks Daily for nothing if the agent does not exist, or the organization has no key', async () => {
    const before = daily.requests.length;
    expect(await start({ createDailyRoom: true }, 'missing')).toMatchObject({ status: 404 });
    const headers = createBearerTokenHeaders(second.publicKey).headers;
    expect(await post('default/start', { createDailyRoom: true }, headers)).toMatchObject({
      status: 400,
      json: { reason: 'rooms-not-connected' },
    });
    expect(daily.requests.length).toBe(before);
  });
});

describe('connectRooms', () => {
  it('stores a key only if Daily accepts it', async () => {
    await expect(connect('wrong-key')).rejects.toMatchObject({ reason: 'rooms-key-invalid', status: 400 });
    expect(await connect()).toEqual({
      provider: 'daily',
      account: 'stand-in',
      signsDialin: false,
      openRooms: 0,
      connectedAt: expect.any(String),
    });
    expect((await service.client.listRoomConnections()).connections).toHaveLength(1);
  });

  it('keeps the stored secret for calls without dialinSecret, and deletes it with null', async () => {
    const dialinSecret = Buffer.from('a secret').toString('base64');
    expect(await connect(daily.apiKey, dialinSecret)).toMatchObject({ signsDialin: true });
    expect(await connect(daily.apiKey, undefined)).toMatchObject({ signsDialin: true });
    expect(await connect(daily.apiKey, null)).toMatchObject({ signsDialin: false });
    expect(await connect(daily.apiKey, undefined)).toMatchObject({ signsDialin: false });
  });

  it('deletes the rooms whose deletion failed with the former key', async () => {
    const { sessionId } = await startInRoom();
    daily.fail('DELETE', { status: 401, body: '{"error":"authentication-error"}' }, Number.POSITIVE_INFINITY);
    await stopAgentSession(service, 'default', sessionId);
    await expect.poll(() => daily.requests.at(-1), { interval: 20 }).toMatch(/^DELETE/);
    expect(daily.rooms()).toHaveLength(1);
    daily.recover();
    await connect();
    await expect.poll(daily.rooms, { timeout: 20_000, interval: 50 }).toEqual([]);
  });
});

describe('disconnectRooms', () => {
  const disconnect = (force: 'true' | 'false' = 'false') =>
    service.client.disconnectRooms({ params: { provider: 'daily' }, query: { force } });

  it('refuses while rooms exist, unless forced, and the rooms are deleted after the next connect', async () => {
    const { sessionId } = await startInRoom();
    await expect(disconnect()).rejects.toMatchObject({ reason: 'rooms-open', status: 409 });
    expect(await disconnect('true')).toMatchObject({ openRooms: 1 });
    await stopAgentSession(service, 'default', sessionId);
    await waitForSessionEnd(service, 'default', sessionId);
    expect(daily.rooms()).toHaveLength(1);
    await connect();
    await waitUntilNoRoom();
  });

  it('fails for an organization without a key', async () => {
    const client = createApiClient({ origin: service.url, key: second.privateKey });
    await expect(client.disconnectRooms({ params: { provider: 'daily' } })).rejects.toMatchObject({
      reason: 'rooms-not-found',
    });
  });
});

describe('the announcement of a phone call', () => {
  const path = 'webhooks/test-org/default/dialin';
  const call = (callId: string) => ({ From: '+15550100', To: '+15550199', callId, callDomain: 'domain-1' });
  const hmacSecret = Buffer.from('a secret of Daily').toString('base64');
  const sign = (body: string, timestamp: string) => ({
    'x-pinless-timestamp': timestamp,
    'x-pinless-signature': createHmac('sha256', Buffer.from(hmacSecret, 'base64'))
      .update(`${timestamp}.${body}`)
      .digest('base64'),
  });
  const webhook = (agentName = 'default') => service.client.getDialinWebhook({ params: { agentName } });
  const secretOf = async (agentName?: string) => new URL((await webhook(agentName)).url).search;

  it('starts a session in a room for SIP, with the settings of the call for the bot', async () => {
    const { url, isSigned } = await webhook();
    expect({ url, isSigned }).toEqual({
      url: expect.stringMatching(
        /^https:\/\/bots\.example\.com\/v1\/public\/webhooks\/test-org\/default\/dialin\?secret=[\w-]{43}$/,
      ),
      isSigned: false,
    });
    const { status, json } = await post(`${path}${await secretOf()}`, {
      ...call('call-1'),
      sipHeaders: { 'X-Plan': 'gold' },
    });
    expect(status).toBe(200);
    expect(Object.keys(json).sort()).toEqual(['dailyRoom', 'dailyToken', 'sessionId']);
    expect(daily.rooms()[0]?.properties['sip']).toEqual({
      display_name: '+15550100',
      video: false,
      sip_mode: 'dial-in',
      num_endpoints: 1,
    });
    expect(JSON.parse((await readStart(String(json['sessionId']))).body)).toEqual({
      dialin_settings: {
        call_id: 'call-1',
        call_domain: 'domain-1',
        To: '+15550199',
        From: '+15550100',
        sip_headers: { 'X-Plan': 'gold' },
      },
      daily_api_key: daily.apiKey,
      daily_api_url: daily.url,
    });
  });

  it('is refused with the former secret after rotateAnswerUrls', async () => {
    const former = await secretOf();
    await service.client.rotateAnswerUrls({ params: { agentName: 'default' } });
    expect(await secretOf()).not.toBe(former);
    expect(await post(`${path}${former}`, call('call-0'))).toMatchObject({ status: 403 });
    expect(await post(`${path}${await secretOf()}`, call('call-0'))).toMatchObject({ status: 200 });
  });

  it('starts one session only, also if it is repeated after the end of the session', async () => {
    const address = `${path}${await secretOf()}`;
    const first = await post(address, call('call-2'));
    expect(first.status).toBe(200);
    expect(await post(address, call('call-2'))).toMatchObject({ status: 409, json: { reason: 'call-started' } });
    await stopAgentSession(service, 'default', String(first.json['sessionId']));
    await waitUntilNoRoom();
    expect(await post(address, call('call-2'))).toMatchObject({ status: 409 });
  });

  it('can be repeated after a start that failed', async () => {
    daily.fail('POST /rooms', { status: 429, body: '{"error":"rate-limit-error"}' });
    const address = `${path}${await secretOf()}`;
    expect(await post(address, call('call-3'))).toMatchObject({ status: 503 });
    expect(await post(address, call('call-3'))).toMatchObject({ status: 200 });
  });

  it('accepts the test of Daily without a secret, for any address', async () => {
    expect(await post(path, { Test: 'test' })).toEqual({ status: 200, json: { status: 'OK' } });
    expect(await post('webhooks/missing/missing/dialin', { test: true })).toEqual({
      status: 200,
      json: { status: 'OK' },
    });
  });

  it.each([
    ['without a secret', path, ''],
    ['with a wrong secret', path, `?secret=${'x'.repeat(43)}`],
    ['for another organization', 'webhooks/neighbours/default/dialin', null],
    ['for a missing organization', 'webhooks/missing/default/dialin', null],
    ['for a missing agent', 'webhooks/test-org/missing/dialin', null],
    ['for another agent', 'webhooks/test-org/single/dialin', null],
    ['for a name that no agent can have', 'webhooks/test-org/%00/dialin', null],
  ])('is refused %s, always with the same response', async (_, address, query) => {
    const { status, json } = await post(`${address}${query ?? (await secretOf())}`, call('call-4'));
    expect({ status, reason: json['reason'], error: json['error'] }).toEqual({
      status: 403,
      reason: 'dialin-refused',
      error: expect.stringContaining('botcli cloud rooms dialin'),
    });
    expect(daily.rooms()).toEqual([]);
  });

  it('is refused if a field is missing', async () => {
    const { callDomain: _, ...incomplete } = call('call-5');
    expect(await post(`${path}${await secretOf()}`, incomplete)).toMatchObject({
      status: 400,
      json: { issues: [{ path: 'body.callDomain' }] },
    });
  });

  it('must be signed once the organization has the secret of Daily', async () => {
    const query = await secretOf();
    await connect(daily.apiKey, hmacSecret);
    try {
      expect(await webhook()).toEqual({ url: `https://bots.example.com/v1/public/${path}`, isSigned: true });
      const body = JSON.stringify(call('call-6'));
      const [seconds, milliseconds] = [String(nowSeconds()), String(Date.now())];
      const refused: [string, string, Record<string, string>][] = [
        ['unsigned, with the former secret', `${path}${query}`, {}],
        ['altered', path, sign(body.replace('+15550100', '+15550101'), seconds)],
      ];
      for (const [what, address, headers] of refused)
        expect({ what, ...(await post(address, body, headers)) }).toMatchObject({ what, status: 403 });
      expect(await post(path, body, sign(body, milliseconds))).toMatchObject({ status: 200 });
      expect(await post(path, body, sign(body, milliseconds))).toMatchObject({ status: 409 });
    } finally {
      await connect(daily.apiKey, null);
    }
  });
});

it('connectRooms refuses an unknown provider', async () => {
  expect(await sendRawRequest(service, 'PUT', '/rooms/unknown', { apiKey: 'x' })).toMatchObject({
    status: 404,
    json: { reason: 'rooms-not-found', error: expect.stringContaining('Use daily.') },
  });
});
