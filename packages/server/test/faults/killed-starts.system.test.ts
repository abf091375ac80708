import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, type TestContext } from 'vitest';
import { createClientConfig } from '../../src/store/address.ts';
import { openCrashService } from '../crash/crash-service.ts';
import { createBotColdStartGate } from '../support/bot-cold-start-gate.ts';
import { type BotProjectDirectory, writeBot } from '../support/bots.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  waitForSessionEnd,
} from '../support/client.ts';
import { createTestDatabase } from '../support/test-database.ts';

/**
 * A bot that reports the state of its session. It writes its pid and the ids of its sessions into the directory `notes`. A
 * request to `/end` ends the session.
 */
const reportingBot = (notes: string) => `
const { appendFileSync } = require('node:fs');
const note = (name, text) => appendFileSync(${JSON.stringify(notes)} + '/' + name, text + '\\n', { mode: 0o644 });
let known = { state: 'idle' };
note('pids', process.pid);
require('node:http').createServer((request, response) => {
  const path = request.url.split('?')[0];
  const now = new Date().toISOString();
  if (path === '/_bot/session') return response.end(JSON.stringify(known));
  if (path === '/bot') {
    note(process.pid + '-starts', request.headers['x-session-id']);
    known = { state: 'running', startedAt: now };
    return;
  }
  if (path === '/end') known = { ...known, state: 'ended', status: 200, endedAt: now };
  response.end();
}).listen(Number(process.env.PORT), process.env.BOT_HOST);
`;

/** Starts a service that the test can kill. It has its own database, so that the test can read the sessions there. */
async function openService(test: TestContext, bot: BotProjectDirectory) {
  const database = await createTestDatabase();
  test.onTestFinished(() => database.drop());
  const environment = { DATABASE_URL: database.url };
  const service = await openCrashService({ writeAgents: () => [bot.path], environment });
  test.onTestFinished(() => service.remove());
  const db = new pg.Client(createClientConfig(database.address));
  await db.connect();
  test.onTestFinished(() => db.end());
  const session = async (id: string) => (await db.query('select * from sessions where id = $1', [id])).rows[0];
  return { ...service, db, session };
}

describe('a session whose server was killed before its bot accepted it', () => {
  it('becomes live when the bot accepts it, and ends as completed', async (test) => {
    const notes = await mkdtemp(join(tmpdir(), 'bothost-killed-start-'));
    test.onTestFinished(() => rm(notes, { recursive: true, force: true }));
    await chmod(notes, 0o777);
    const bot = await writeBot('frozen', { minAgents: 1, alone: true, prelude: reportingBot(notes) });
    test.onTestFinished(() => bot.remove());
    const service = await openService(test, bot);
    const [pid] = (await readFile(join(notes, 'pids'), 'utf8')).split('\n').map(Number);
    if (pid === undefined) throw new Error('the bot has not noted its pid');

    process.kill(pid, 'SIGSTOP');
    const id = await startAgentSession(service, 'frozen');
    await expect.poll(async () => (await service.session(id)).dispatched_at).not.toBeNull();
    await service.kill();
    await service.start().ready;
    expect(await service.session(id)).toMatchObject({ state: 'starting', bot_started_at: null });

    const thawedAt = new Date();
    process.kill(pid, 'SIGCONT');
    await expect.poll(async () => (await service.session(id)).state).toBe('live');
    expect((await service.session(id)).bot_started_at.getTime()).toBeGreaterThanOrEqual(thawedAt.getTime());
    expect(
      (await fetch(sessionUrl(service, 'frozen', id, '/end'), createBearerTokenHeaders(service.publicKey))).status,
    ).toBe(200);
    const record = await waitForSessionEnd(service, 'frozen', id);
    expect(record).toMatchObject({ completionStatus: 'HTTP_COMPLETED', endState: 'completed' });
    expect(await readFile(join(notes, `${pid}-starts`), 'utf8')).toBe(`${id}\n`);
  });

  it('gets a new start deadline from the next server, but ends at most 300 s after its request', async (test) => {
    const gate = await createBotColdStartGate();
    test.onTestFinished(() => gate.close());
    const bot = await writeBot('late', { prelude: gate.prelude });
    test.onTestFinished(() => bot.remove());
    const service = await openService(test, bot);
    // The first session uses the instance that was started to validate the deployment.
    await evaluateJavaScriptInBot(service, 'late', await startAgentSession(service, 'late'), 'true');
    gate.shut();
    const [late, tooLate] = [await startAgentSession(service, 'late'), await startAgentSession(service, 'late')];
    const bots = [await gate.next(), await gate.next()];
    await service.kill();
    const age = (id: string, seconds: number) =>
      service.db.query('update sessions set requested_at = requested_at - make_interval(secs => $1) where id = $2', [
        seconds,
        id,
      ]);
    await age(late, 200);
    await age(tooLate, 300);
    await service.start().ready;
    expect(await waitForSessionEnd(service, 'late', tooLate)).toMatchObject({ completionStatus: 'BOT_START_TIMEOUT' });
    for (const go of bots) go('go');
    expect(await evaluateJavaScriptInBot(service, 'late', late, '"started"')).toBe('started');
  });
});
