import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@bothost/contract';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { clientConfig } from '../../src/store/address.ts';
import { writeBot } from '../support/bots.ts';
import { ended } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { serviceProcess } from '../support/service-process.ts';
import { testDatabase } from '../support/test-database.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** A bot that reports its session, and writes its pid and its starts to `notes`. A request to `/end` ends its session. */
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

describe.runIf(existsSync(program))('a session whose bot has not accepted it yet', () => {
  it('becomes live after its server was killed, when the bot accepts it, and ends as completed', async (test) => {
    const directory = await mkdtemp(join(tmpdir(), 'bothost-frozen-'));
    test.onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const notes = join(directory, 'notes');
    await mkdir(notes);
    await chmod(directory, 0o711);
    await chmod(notes, 0o777);
    const bot = await writeBot('frozen', { minAgents: 1, alone: true, prelude: reportingBot(notes) });
    test.onTestFinished(() => bot.remove());
    const database = await testDatabase();
    test.onTestFinished(() => database.drop());
    const environment = { DATABASE_URL: database.url };
    const service = serviceProcess({ directory, agents: [bot.path], port: await freePort(), environment });
    await service.start().ready;
    test.onTestFinished(async () => {
      service.current().signal('SIGTERM');
      await service.current().exited;
    });
    const db = new pg.Client(clientConfig(database.address));
    await db.connect();
    test.onTestFinished(() => db.end());
    const [pid] = (await readFile(join(notes, 'pids'), 'utf8')).split('\n').map(Number);
    if (pid === undefined) throw new Error('the bot has not noted its pid');
    const client = createClient({ origin: service.url, key: service.privateKey });
    const publicClient = createClient({ origin: service.url, key: service.publicKey });
    const columns = async () =>
      (await db.query('select state, handed_over_at, bot_started_at from sessions where id = $1', [sessionId])).rows[0];

    process.kill(pid, 'SIGSTOP');
    const { sessionId = '' } = await publicClient.startSession({ params: { agentName: 'frozen' }, body: {} });
    await expect.poll(async () => (await columns()).handed_over_at).not.toBeNull();
    service.current().signal('SIGKILL');
    await service.current().exited;
    await service.start().ready;
    expect(await columns()).toMatchObject({ state: 'starting', bot_started_at: null });

    const thawedAt = new Date();
    process.kill(pid, 'SIGCONT');
    await expect.poll(async () => (await columns()).state).toBe('live');
    expect((await columns()).bot_started_at.getTime()).toBeGreaterThanOrEqual(thawedAt.getTime());
    const end = `${service.url}/v1/public/frozen/sessions/${sessionId}/end`;
    const response = await fetch(end, { method: 'POST', headers: { authorization: `Bearer ${service.publicKey}` } });
    expect(response.status).toBe(200);
    const record = await ended({ ...service, client, publicClient }, 'frozen', sessionId);
    expect(record).toMatchObject({ completionStatus: 'HTTP_COMPLETED', endState: 'completed' });
    expect(await readFile(join(notes, `${pid}-starts`), 'utf8')).toBe(`${sessionId}\n`);
  });
});
