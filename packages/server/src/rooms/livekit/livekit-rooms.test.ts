import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { jwtVerify } from 'jose';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RoomRefusedError } from '../room-provider.ts';
import { createLiveKitRooms } from './livekit-rooms.ts';
import { findLiveKitServer, type LiveKitServer } from './livekit-server.ts';

const apiSecret = 'a secret that only the service has';
const session = { organizationId: 'o', name: 'room-1' };
const now = () => new Date('2026-11-28T12:00:00Z');
const request = {
  ...session,
  expiresAt: new Date('2026-11-28T14:00:00Z'),
  roomProperties: {},
  tokenProperties: {},
};

const { signal } = new AbortController();
/** A stand-in for the LiveKit server. Each test sets `response`, which has the form of Twirp. */
let requests: { path: string | undefined; body: unknown; token: string }[];
let response: { readonly status: number; readonly body: unknown };
let server: LiveKitServer;
const standIn = createServer((incoming, outgoing) => {
  void json(incoming).then((body) => {
    requests.push({ path: incoming.url, body, token: incoming.headers.authorization?.replace('Bearer ', '') ?? '' });
    outgoing.writeHead(response.status, { 'content-type': 'application/json' }).end(JSON.stringify(response.body));
  });
});
beforeEach(async () => {
  requests = [];
  response = { status: 200, body: {} };
  await once(standIn.listen(0, '127.0.0.1'), 'listening');
  const { port } = standIn.address() as AddressInfo;
  server = { url: `ws://127.0.0.1:${port}`, apiKey: 'key-1', apiSecret };
});
afterEach(async () => {
  standIn.closeAllConnections();
  await new Promise((resolve) => standIn.close(resolve));
});

const openRooms = (configured: LiveKitServer | null = server) =>
  createLiveKitRooms(configured, { now, logger: pino({ level: 'silent' }) });
const readToken = async (token: string) =>
  (await jwtVerify(token, Buffer.from(apiSecret), { issuer: 'key-1', currentDate: now() })).payload;

describe('rooms of LiveKit', () => {
  it('are created with a token for the bot and one for the client, which expire with the session', async () => {
    const { bot, response: start } = await openRooms().create(request);
    expect(bot).toMatchObject({ name: 'room-1', url: server.url });
    expect(start.url).toBe(server.url);
    const exp = request.expiresAt.getTime() / 1000;
    expect(await readToken(bot.token)).toEqual({
      iss: 'key-1',
      sub: expect.stringMatching(/^Pipecat Agent-[0-9a-f]{8}$/),
      name: 'Pipecat Agent',
      video: { roomJoin: true, room: 'room-1', agent: true },
      exp,
    });
    expect(await readToken(start.token ?? '')).toEqual({
      iss: 'key-1',
      sub: expect.stringMatching(/^User-[0-9a-f]{8}$/),
      name: 'User',
      video: { roomJoin: true, room: 'room-1' },
      exp,
    });
    expect(requests).toMatchObject([
      { path: '/twirp/livekit.RoomService/CreateRoom', body: { name: 'room-1', empty_timeout: 600 } },
    ]);
    expect((await readToken(requests[0]?.token ?? ''))['video']).toEqual({ roomCreate: true });
  });

  it('give the bot the arguments of its room in headers, and no secret of the server', async () => {
    const { bot } = await openRooms().create(request);
    const { headers, body } = await openRooms().createBotRequest('o', bot, '{"a":1}');
    expect(headers).toEqual({
      'bothost-livekit-room': 'room-1',
      'bothost-livekit-url': server.url,
      'bothost-livekit-token': bot.token,
    });
    expect(body).toBe('{"a":1}');
    expect(JSON.stringify([headers, bot])).not.toContain(apiSecret);
  });

  it.each([
    [200, {}],
    [404, { code: 'not_found', msg: 'requested room does not exist' }],
  ])('are deleted if the server responds %i', async (status, body) => {
    response = { status, body };
    await openRooms().remove(session, signal);
    expect(requests).toMatchObject([{ path: '/twirp/livekit.RoomService/DeleteRoom', body: { room: 'room-1' } }]);
  });

  it.each([
    [401, { code: 'unauthenticated', msg: 'invalid API key' }, 'responded 401 unauthenticated: invalid API key'],
    [404, 'the page of a proxy', 'responded 404'],
    [503, { code: 'unavailable', msg: 'no nodes' }, 'responded 503 unavailable: no nodes'],
  ])('are not deleted if the server responds %i %j', async (status, body, message) => {
    response = { status, body };
    await expect(openRooms().remove(session, signal)).rejects.toThrow(message);
  });

  it('need no deletion if the server refused to create them', async () => {
    response = { status: 401, body: { code: 'unauthenticated', msg: 'invalid API key' } };
    const error = await openRooms()
      .create(request)
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(RoomRefusedError);
    expect(error.failure).toMatchObject({ reason: 'rooms-unavailable' });
  });

  it('may need a deletion if the server did not respond to their creation', async () => {
    const unreachable = { ...server, url: 'ws://127.0.0.1:1' };
    await expect(openRooms(unreachable).create(request)).rejects.toMatchObject({ reason: 'rooms-unavailable' });
  });

  it('cannot be created or joined without a configured server', async () => {
    const failure = { reason: 'livekit-not-configured' };
    await expect(openRooms(null).create(request)).rejects.toMatchObject({ failure });
    await expect(openRooms(null).admit('room-1', { ...request, name: 'Ada' })).rejects.toMatchObject(failure);
  });

  it('admit each further person with a token and an identity of their own', async () => {
    const { expiresAt } = request;
    const admissions = await Promise.all([1, 2].map(() => openRooms().admit('room-1', { name: 'Ada', expiresAt })));
    for (const { url, token, identity } of admissions) {
      expect(url).toBe(server.url);
      expect(await readToken(token)).toMatchObject({ sub: identity, name: 'Ada', video: { room: 'room-1' } });
    }
    expect(new Set(admissions.map(({ identity }) => identity)).size).toBe(2);
  });
});

describe('findLiveKitServer', () => {
  const complete = { liveKitUrl: 'wss://a.example', liveKitApiKey: 'k', secrets: { liveKitApiSecret: 's' } };
  const none = { liveKitUrl: undefined, liveKitApiKey: undefined, secrets: { liveKitApiSecret: undefined } };

  it('returns the server if all three settings are present, and null if none is', () => {
    expect(findLiveKitServer(complete)).toEqual({ url: 'wss://a.example', apiKey: 'k', apiSecret: 's' });
    expect(findLiveKitServer(none)).toBeNull();
  });

  it.each(Object.keys(complete) as (keyof typeof complete)[])('names all settings if %s is missing', (name) => {
    expect(() => findLiveKitServer({ ...complete, [name]: none[name] })).toThrow(
      'BOTHOST_LIVEKIT_URL, BOTHOST_LIVEKIT_API_KEY and BOTHOST_LIVEKIT_API_SECRET',
    );
  });
});
