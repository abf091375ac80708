import { createApiError } from '@bothost/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTestVault } from '../../test/support/test-vault.ts';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { RoomRefusedError, type RoomRequest } from './room-provider.ts';
import {
  abandonSessionRoom,
  createBotRequest,
  createSessionRoom,
  endSessionRoom,
  keepSessionRoom,
  recordMeetings,
} from './session-room.ts';

const rows = await useTestRows();
const vault = await createTestVault(rows);
const bot = { name: 'a room', url: 'https://example.daily.co/a', token: 'token of the bot' };
const response = { dailyRoom: bot.url, dailyToken: 'token of the client' };

let organizationId: string;
let sessionId: string;
let create: (request: RoomRequest) => Promise<void>;
let wakes: number;
beforeEach(async () => {
  organizationId = await rows.organization(`rooms-${newId().slice(-12)}`);
  sessionId = newId();
  create = async () => undefined;
  wakes = 0;
});

const provider = {
  create: async (request: RoomRequest) => {
    await create(request);
    return { bot, response };
  },
  remove: async () => undefined,
  createBotRequest: async (_: string, { token }: { token: string }, body: string) => ({ headers: { token }, body }),
};
const context = {
  ...vault.context,
  roomProviders: { daily: provider, livekit: provider },
  deleteRooms: () => {
    wakes += 1;
  },
};
const createRoom = (callId: string | null = null) =>
  createSessionRoom(context, {
    sessionId,
    organizationId,
    provider: 'daily',
    callId,
    expiresAt: new Date('2026-11-20T14:00:00Z'),
    roomProperties: {},
    tokenProperties: {},
  });
const readRoom = () =>
  rows.db.selectFrom('session_rooms').selectAll().where('session_id', '=', sessionId).executeTakeFirst();
const afterSeconds = (seconds: number) => new Date(context.now().getTime() + seconds * 1000);
const session = (transport: 'daily' | 'none', body: string | null) => ({
  id: sessionId,
  organizationId,
  transport,
  body,
});

describe('createSessionRoom', () => {
  it('stores a record before the provider creates the room, so that the room is deleted after a kill', async () => {
    const seen: unknown[] = [];
    create = async ({ name }) => void seen.push(name, await readRoom());
    expect(await createRoom()).toMatchObject({ bot, response });
    const name = `bothost-${sessionId.replaceAll('-', '')}`;
    expect(name.length).toBeLessThanOrEqual(41);
    expect(seen).toEqual([name, expect.objectContaining({ name, delete_at: afterSeconds(60), sealed: null })]);
  });

  it('leaves no record if the provider created no room', async () => {
    create = () => Promise.reject(new RoomRefusedError(createApiError('rooms-busy')));
    await expect(createRoom()).rejects.toMatchObject({ reason: 'rooms-busy' });
    expect(await readRoom()).toBeUndefined();
  });

  it('deletes the room later if the provider may still create it, and lets the call be announced again', async () => {
    create = () => Promise.reject(createApiError('rooms-timeout'));
    await expect(createRoom('call-1')).rejects.toMatchObject({ reason: 'rooms-timeout' });
    expect(await readRoom()).toMatchObject({ delete_at: afterSeconds(60), call_id: null });
    sessionId = newId();
    create = async () => undefined;
    await createRoom('call-1');
  });

  it('refuses a second room for a call, but not for the same call of another organization', async () => {
    await createRoom('call-2');
    sessionId = newId();
    await expect(createRoom('call-2')).rejects.toMatchObject({ reason: 'call-started' });
    organizationId = await rows.organization(`rooms-${newId().slice(-12)}`);
    await createRoom('call-2');
  });
});

describe('a room', () => {
  it('is kept from the creation of its session until its end', async () => {
    await keepSessionRoom(rows.db, sessionId, await createRoom());
    expect(await readRoom()).toMatchObject({ delete_at: null, deleted_at: null });
    await abandonSessionRoom(context, sessionId);
    expect(await readRoom()).toMatchObject({ delete_at: null });
    await endSessionRoom(rows.db, sessionId, afterSeconds(5));
    expect(await readRoom()).toMatchObject({ delete_at: afterSeconds(5), sealed: null });
  });

  it('is deleted at once if its session was not created', async () => {
    await createRoom();
    await abandonSessionRoom(context, sessionId);
    expect(await readRoom()).toMatchObject({ delete_at: context.now() });
    expect(wakes).toBe(1);
  });

  it('cannot be kept once its deletion has begun', async () => {
    const room = await createRoom();
    await rows.db.updateTable('session_rooms').set({ attempts: 1 }).where('session_id', '=', sessionId).execute();
    await expect(keepSessionRoom(rows.db, sessionId, room)).rejects.toMatchObject({ reason: 'rooms-timeout' });
  });
});

describe('createBotRequest', () => {
  it('adds what the provider gives to the bot of a room, and nothing to other sessions', async () => {
    await keepSessionRoom(rows.db, sessionId, await createRoom());
    expect(await createBotRequest(context, session('daily', null))).toEqual({
      headers: { token: bot.token },
      body: '{}',
    });
    expect(await createBotRequest(context, session('none', '{"a":1.0}'))).toEqual({ headers: {}, body: '{"a":1.0}' });
  });

  it('rejects once the session has ended', async () => {
    await keepSessionRoom(rows.db, sessionId, await createRoom());
    await endSessionRoom(rows.db, sessionId, context.now());
    await expect(createBotRequest(context, session('daily', null))).rejects.toThrow('due for deletion');
  });
});

describe('recordMeetings', () => {
  it('keeps each meeting once, and at most 20', async () => {
    await createRoom();
    const meeting = (number: number) => ({ meetingId: `m-${number}`, participantId: 'p' });
    await recordMeetings(rows.db, sessionId, [meeting(0)]);
    await recordMeetings(rows.db, sessionId, [meeting(0), meeting(1)]);
    expect((await readRoom())?.meetings).toEqual([meeting(0), meeting(1)]);
    await recordMeetings(
      rows.db,
      sessionId,
      Array.from({ length: 30 }, (_, number) => meeting(number)),
    );
    expect((await readRoom())?.meetings).toHaveLength(20);
  });
});
