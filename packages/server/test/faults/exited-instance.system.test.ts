import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { writeBot } from '../support/bots.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  waitForSessionEnd,
} from '../support/client.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestServer } from '../support/test-server.ts';

it('the service forwards no request to the port of an exited bot, even if another program now uses the port', async (test) => {
  const bot = await writeBot('exits', { prelude: 'delete process.env.BOT_SOCKET;' });
  test.onTestFinished(() => bot.remove());
  const directory = await mkdtemp(join(tmpdir(), 'bothost-exited-'));
  test.onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o711);
  const database = await createTestDatabase();
  test.onTestFinished(() => database.drop());
  const environment = { DATABASE_URL: database.url, BOTHOST_DATA_DIR: join(directory, 'data') };
  const log: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(line) });
  const open = (more: Record<string, string> = {}) =>
    startTestServer({ agents: [bot.path], environment: { ...environment, ...more }, logger });

  // Let a second server adopt the session. The first server would notice that the bot exits, because its request to
  // the bot would fail. The second server has no open request to the bot.
  const first = await open({ BOTHOST_ON_STOP: 'leave' });
  const id = await startAgentSession(first, 'exits');
  const port = await evaluateJavaScriptInBot<number>(first, 'exits', id, 'server.address().port');
  await first.close();
  const second = await open();
  test.onTestFinished(() => second.close());
  await evaluateJavaScriptInBot(second, 'exits', id, 'setImmediate(() => process.exit(0)); true');
  const received: string[] = [];
  const stranger = createServer((request, response) => {
    received.push(`${request.method} ${request.url}`);
    response.end('stranger');
  });
  test.onTestFinished(() => void stranger.close());
  await expect.poll(() => log.join('')).toContain('instance ended');
  await once(stranger.listen(port, '127.0.0.1'), 'listening');

  const response = await fetch(sessionUrl(second, 'exits', id, '/x'), createBearerTokenHeaders(second.publicKey));
  expect(response.status).toBe(404);
  expect((await waitForSessionEnd(second, 'exits', id)).completionStatus).toBe('HTTP_COMPLETED');
  expect(received).toEqual([]);
});
