import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { useTestRows } from '../../test/support/use-test-server.ts';
import { newId } from '../store/uuid.ts';
import { deleteDueRooms } from './delete-rooms.ts';
import { purgeRoomRecords } from './retention.ts';
import type { RoomProvider } from './room-provider.ts';

const rows = await useTestRows();
const start = Date.parse('2026-11-28T12:00:00Z');
const signal = new AbortController().signal;
let organizationId: string;
let nowMs = start;
let failures = 0;
const deleted: string[] = [];

const provider: RoomProvider = {
  create: () => Promise.reject(new Error('not used')),
  createBotRequest: () => Promise.reject(new Error('not used')),
  remove: async ({ name }) => {
    if (failures > 0) {
      failures -= 1;
      throw new Error('the provider fails');
    }
    deleted.push(name);
  },
};
const roomProviders = { daily: provider, livekit: provider };
const lines: string[] = [];
const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
const context = { db: rows.db, now: () => new Date(nowMs), logger, roomProviders };
const expiresAtMs = start + 3_600_000;

beforeEach(async () => {
  organizationId = await rows.organization(`rooms-${newId().slice(-12)}`);
  await rows.db.deleteFrom('session_rooms').execute();
  nowMs = start;
  failures = 0;
  deleted.length = 0;
  lines.length = 0;
});

async function insertRoom(
  name: string,
  deleteAtMs: number | null,
  provider: 'daily' | 'livekit' = 'daily',
): Promise<string> {
  const id = newId();
  await rows.db
    .insertInto('session_rooms')
    .values({
      session_id: id,
      organization_id: organizationId,
      provider,
      name,
      meetings: '[]',
      delete_at: deleteAtMs === null ? null : new Date(deleteAtMs),
      expires_at: new Date(expiresAtMs),
      created_at: new Date(start),
    })
    .execute();
  return id;
}
const pass = () => deleteDueRooms(context, 'daily', signal);
const readRoom = (id: string) =>
  rows.db.selectFrom('session_rooms').selectAll().where('session_id', '=', id).executeTakeFirst();

describe('deleteDueRooms', () => {
  it('deletes rooms that are due, once, and no others', async () => {
    const due = await insertRoom('due', start);
    await insertRoom('later', start + 1);
    await insertRoom('in use', null);
    await pass();
    await pass();
    expect(deleted).toEqual(['due']);
    expect(await readRoom(due)).toMatchObject({ deleted_at: new Date(start), delete_at: null });
  });

  it('deletes any number of rooms in one pass', async () => {
    for (let number = 0; number < 25; number += 1) await insertRoom(`room ${number}`, start);
    await pass();
    expect(deleted).toHaveLength(25);
  });

  it('repeats a failed deletion after 1, 2, 4 ... seconds and at last every ten minutes, until it succeeds', async () => {
    const id = await insertRoom('stubborn', start);
    failures = 12;
    const pausesMs: number[] = [];
    while (deleted.length === 0) {
      await pass();
      const next = (await readRoom(id))?.delete_at?.getTime();
      if (next === undefined) continue;
      pausesMs.push(next - nowMs);
      nowMs = next - 1;
      await pass();
      nowMs = next;
    }
    expect(pausesMs.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(pausesMs.at(-1)).toBe(600_000);
    expect(pausesMs).toHaveLength(12);
  });

  it('gives a deletion up a day after the room expired, and logs only the first failure and the last one', async () => {
    const id = await insertRoom('without a key', start);
    failures = Number.POSITIVE_INFINITY;
    while ((await readRoom(id))?.deleted_at === null) {
      await pass();
      nowMs = (await readRoom(id))?.delete_at?.getTime() ?? nowMs;
    }
    expect(nowMs).toBeGreaterThanOrEqual(expiresAtMs + 86_400_000);
    expect(nowMs).toBeLessThan(expiresAtMs + 86_400_000 + 600_000);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { sessionId: id, attempts: 1, msg: 'room deletion failed, retry scheduled' },
      { sessionId: id, msg: 'room deletion given up a day after the room expired' },
    ]);
  });

  it('deletes the rooms of one provider only', async () => {
    await insertRoom('of LiveKit', start, 'livekit');
    await pass();
    expect(deleted).toEqual([]);
    await deleteDueRooms(context, 'livekit', signal);
    expect(deleted).toEqual(['of LiveKit']);
  });

  it('leaves a room to another server that is deleting it, until that server must have failed', async () => {
    const id = await insertRoom('leased', start);
    // A server that is killed in the middle of the deletion writes nothing after it.
    const remove = () => new Promise<never>(() => undefined);
    const killed = { ...context, roomProviders: { ...roomProviders, daily: { ...provider, remove } } };
    void deleteDueRooms(killed, 'daily', signal);
    await expect.poll(async () => (await readRoom(id))?.attempts).toBe(1);
    await pass();
    expect(deleted).toEqual([]);
    nowMs += 60_000;
    await pass();
    expect(deleted).toEqual(['leased']);
  });
});

describe('purgeRoomRecords', () => {
  it('deletes the record of a room a day after its deletion, if its session does not exist', async () => {
    const gone = await insertRoom('gone', start);
    const waiting = await insertRoom('not deleted yet', start + 1);
    await pass();
    nowMs += 86_400_000;
    await purgeRoomRecords(context);
    expect(await readRoom(gone)).toBeDefined();
    nowMs += 1;
    await purgeRoomRecords(context);
    expect(await readRoom(gone)).toBeUndefined();
    expect(await readRoom(waiting)).toBeDefined();
  });
});
