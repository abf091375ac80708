import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { createKillTally } from '../../../runtime/test/kill-tally.ts';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { startDailyStandIn } from '../support/daily.ts';
import { useCrashService, writeAgent } from './crash-service.ts';

const kills = Math.ceil(inject('kills') / 2);
const seed = inject('killSeed');

/** A bot whose sessions last until they are stopped. */
const bot = `
import http from 'node:http';
const server = http.createServer((request, response) => {
  if (request.url === '/bot') return;
  response.statusCode = request.url === '/readyz' ? 200 : 404;
  response.end();
});
server.listen(process.env.BOT_SOCKET ?? { port: Number(process.env.PORT), host: process.env.BOT_HOST });
`;

type RoomRecord = { readonly session_id: string; readonly name: string; readonly deleted_at: Date | null };

const random = createSeededRandom(seed);
const daily = await startDailyStandIn({ latencyMs: 15 });
afterAll(daily.close);
const service = await useCrashService({
  environment: { BOTHOST_DAILY_API_URL: daily.url },
  writeAgents: (directory) => [writeAgent(directory, 'roomy', 'min_agents = 1\nmax_agents = 5', { 'main.js': bot })],
});

describe(`${kills} kills of the server during starts of sessions in rooms (seed ${seed})`, () => {
  const readRecords = async (): Promise<RoomRecord[]> =>
    service.database().rows('select session_id, name, deleted_at from session_rooms');
  const listSessionIds = async (): Promise<string[]> =>
    (await service.database().rows(`select id from sessions where state <> 'ended'`)).map(({ id }) => id);

  it(
    'leave no room without a session, and each deletion is repeated until it succeeds',
    async () => {
      const body = { apiKey: daily.apiKey };
      expect(await service.request('PUT', '/v1/rooms/daily', { body })).toMatchObject({ status: 200 });
      const killed = createKillTally('before the room', 'before the session', 'after the session', 'after the answer');
      const start = () => service.call('POST', '/v1/public/roomy/start', service.publicKey, { createDailyRoom: true });
      const stopSessions = async () => {
        for (const sessionId of await listSessionIds()) {
          const { status } = await service.request('DELETE', `/v1/agents/roomy/sessions/${sessionId}`);
          // 404: the session ended before the request, for example because its bot could not be reached after a kill.
          expect([200, 404]).toContain(status);
        }
        await expect.poll(listSessionIds, { timeout: 60_000 }).toEqual([]);
      };
      // Milliseconds of a start. The delay before each kill is a random fraction of it.
      const measuredAt = performance.now();
      expect(await start()).toMatchObject({ status: 200 });
      let durationMs = performance.now() - measuredAt;
      await stopSessions();

      for (let kill = 0; kill < kills; kill++) {
        const recordsBefore = new Set((await readRecords()).map((record) => record.session_id));
        const roomsBefore = new Set(daily.rooms().map(({ name }) => name));
        if (random.next() < 0.5) daily.fail('DELETE', { status: 500, body: '{"error":"server-error"}' });
        const begun = performance.now();
        let answeredMs: number | null = null;
        const asked = start().then((answer) => {
          if (answer === null) return;
          answeredMs = performance.now() - begun;
          expect(answer).toMatchObject({ status: 200 });
        });
        await delay(random.next() * durationMs * 1.5);
        await Promise.all([service.restart(), asked]);
        if (answeredMs !== null) durationMs = (durationMs + answeredMs) / 2;

        const records = await readRecords();
        const remaining = records.filter((record) => record.deleted_at === null);
        // A room that no record names would exist until it expires.
        expect(remaining.map(({ name }) => name)).toEqual(
          expect.arrayContaining(daily.rooms().map(({ name }) => name)),
        );
        const added = records.find((record) => !recordsBefore.has(record.session_id));
        const hasRoom = daily.rooms().some(({ name }) => !roomsBefore.has(name));
        const open = await listSessionIds();
        const hasSession = added !== undefined && open.includes(added.session_id);
        if (answeredMs !== null)
          expect({ kill, hasRoom, hasSession }).toEqual({ kill, hasRoom: true, hasSession: true });
        killed.add(
          answeredMs !== null
            ? 'after the answer'
            : hasSession
              ? 'after the session'
              : hasRoom
                ? 'before the session'
                : 'before the room',
        );
        await stopSessions();
      }

      // Let the time pass after which the room of a start that was cut off is deleted.
      await service
        .database()
        .rows('update session_rooms set delete_at = now() where delete_at is not null and attempts = 0');
      await expect.poll(() => daily.rooms(), { timeout: 60_000, interval: 50 }).toEqual([]);
      const countRemaining = async () => (await readRecords()).filter((record) => record.deleted_at === null).length;
      await expect.poll(countRemaining, { timeout: 60_000, interval: 50 }).toBe(0);
      expect(daily.requests.filter((line) => line === 'POST /rooms').length).toBeGreaterThan(0);
      killed.print(seed, `${daily.requests.filter((line) => line.startsWith('DELETE')).length} deletions`);
      await service.stopInOrder();
    },
    120_000 + kills * 15_000,
  );
});
