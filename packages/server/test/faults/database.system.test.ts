import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type BotProjectDirectory, writeBot } from '../support/bots.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  startAgentSession,
  waitForSessionEnd,
  waitUntilAgentIdle,
} from '../support/client.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

let service: TestServer;
let bot: BotProjectDirectory;

beforeAll(async () => {
  bot = await writeBot('steady', { minAgents: 1, maxAgents: 40 });
  // Use a separate embedded database, because these tests kill the database, and all other tests of the run share one.
  service = await startTestServer({ agents: [bot.path], environment: { DATABASE_URL: '' } });
});
afterAll(async () => {
  await service.close();
  await bot.remove();
});

function killDatabase() {
  const file = join(service.dataDirectory, 'postgres', 'data', 'postmaster.pid');
  process.kill(Number(readFileSync(file, 'utf8').split('\n')[0]), 'SIGKILL');
}

describe('when the database is killed, the service', () => {
  it('responds to every request correctly or with 503, recovers by itself, and keeps the live session', async () => {
    const live = await startAgentSession(service, 'steady');
    await evaluateJavaScriptInBot(service, 'steady', live, 'true');
    const record = `${service.url}/v1/agents/steady/sessions/${live}`;
    const seen = new Map<number, number>();
    const started: string[] = [];
    const notOurs: unknown[] = [];
    const note = async (response: Response) => {
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
      const body = (await response.json()) as { sessionId?: string; reason?: string };
      const isRight = response.status === 200 || (response.status === 503 && body.reason === 'database-unavailable');
      if (!isRight && response.status !== 429) notOurs.push([response.status, body]);
      return body;
    };
    const going = new AbortController();
    const loop = async (ask: () => Promise<void>) => {
      while (!going.signal.aborted) await ask();
    };
    const readers = Array.from({ length: 4 }, () =>
      loop(async () => void (await note(await fetch(record, createBearerTokenHeaders(service.privateKey))))),
    );
    let room = 12;
    const starter = loop(async () => {
      if (room === 0) return void (await new Promise((resolve) => setImmediate(resolve)));
      const response = await fetch(`${service.url}/v1/public/steady/start`, {
        method: 'POST',
        body: '{}',
        ...createBearerTokenHeaders(service.publicKey),
      });
      const { sessionId } = await note(response);
      if (response.status === 200 && sessionId !== undefined) {
        started.push(sessionId);
        room -= 1;
      }
    });
    const loops = [...readers, starter];
    onTestFinished(async () => {
      going.abort();
      await Promise.allSettled(loops);
    });
    await expect.poll(() => started.length).toBeGreaterThan(2);
    killDatabase();
    // Retry the call to the bot until it succeeds. The service may need the database to check the API key of the call, because
    // the cached result of the last check expires.
    await expect
      .poll(() => evaluateJavaScriptInBot(service, 'steady', live, '"still here"').catch(String))
      .toBe('still here');
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(200);
    await expect.poll(() => room).toBe(0);
    going.abort();
    await Promise.all(loops);

    expect(notOurs).toEqual([]);
    expect(seen.get(200)).toBeGreaterThan(0);
    // Every successful start created a session. Every session belongs to a start that returned 200 or 503.
    const list = await service.client.getSessions({ params: { agentName: 'steady' }, query: { limit: 1000 } });
    const ids = new Set(list.sessions.map(({ sessionId }) => sessionId));
    expect(started.filter((id) => !ids.has(id))).toEqual([]);
    expect(ids.has(live)).toBe(true);
    const { sessions } = await service.client.getSessions({
      params: { agentName: 'steady' },
      query: { status: 'active', limit: 1000 },
    });
    await Promise.all(
      sessions.map(({ sessionId }) => service.client.stopSession({ params: { agentName: 'steady', sessionId } })),
    );
    await waitUntilAgentIdle(service, 'steady');
  });

  it('records the end of a session that ended while the database was down', async () => {
    const id = await startAgentSession(service, 'steady');
    // End the session by a signal to the bot, because a request might need the database to check the API key.
    const code = 'process.once("SIGUSR2", () => state.end(500, "{}")); process.pid';
    const bot = await evaluateJavaScriptInBot<number>(service, 'steady', id, code);
    killDatabase();
    process.kill(bot, 'SIGUSR2');
    await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect((await waitForSessionEnd(service, 'steady', id)).completionStatus).toBe('500');
    await waitUntilAgentIdle(service, 'steady');
  });
});
