import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiClient } from '@bothost/contract';
import { expect, it } from 'vitest';
import { createBotColdStartGate } from '../support/bot-cold-start-gate.ts';
import { writeBot } from '../support/bots.ts';
import { evaluateJavaScriptInBot, startAgentSession } from '../support/client.ts';
import { findFreePort } from '../support/free-port.ts';
import { createServiceProcess } from '../support/service-process.ts';
import { createTestDatabase } from '../support/test-database.ts';

it('a server that stops with BOTHOST_ON_STOP=leave during a cold start exits at once, and the next server uses the bot', async ({
  onTestFinished,
}) => {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-stopped-start-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o711);
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const gate = await createBotColdStartGate();
  onTestFinished(() => gate.close());
  const bot = await writeBot('slow', { prelude: gate.prelude });
  onTestFinished(() => bot.remove());
  const port = await findFreePort();
  const open = (onStop: 'leave' | 'end') =>
    createServiceProcess({
      directory,
      agents: [bot.path],
      port,
      environment: { DATABASE_URL: database.url, BOTHOST_ON_STOP: onStop },
    });
  const [first, next] = [open('leave'), open('end')];
  const service = {
    ...first,
    client: createApiClient({ origin: first.url, key: first.privateKey }),
    publicClient: createApiClient({ origin: first.url, key: first.publicKey }),
  };
  await first.start().ready;
  // Ends the bots even if the test fails.
  onTestFinished(async () => {
    first.current().signal('SIGKILL');
    await first.current().exited;
    if (next.processes.length === 0) await next.start().ready;
    next.current().signal('SIGTERM');
    await next.current().exited;
  });
  // The first session uses the instance that was started to validate the deployment.
  await evaluateJavaScriptInBot(service, 'slow', await startAgentSession(service, 'slow'), 'true');
  gate.shut();
  const sessionId = await startAgentSession(service, 'slow');
  const go = await gate.next();

  first.current().signal('SIGTERM');
  expect(await first.current().exited).toBe(0);
  // Let only the bot process that is already starting listen on its port. If the next server process started a second bot
  // process for the session, that bot process would never listen, and the test would fail.
  await next.start().ready;
  go('go');
  expect(await evaluateJavaScriptInBot(service, 'slow', sessionId, '"started"')).toBe('started');
});
