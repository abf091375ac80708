import { expect, it } from 'vitest';
import { openCrashService } from '../crash/crash-service.ts';
import { createBotColdStartGate } from '../support/bot-cold-start-gate.ts';
import { writeBot } from '../support/bots.ts';
import { evaluateJavaScriptInBot, startAgentSession } from '../support/client.ts';
import { createTestDatabase } from '../support/test-database.ts';

it('a server that stops with BOTHOST_ON_STOP=leave during a cold start exits at once, and the next server uses the bot', async ({
  onTestFinished,
}) => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const gate = await createBotColdStartGate();
  onTestFinished(() => gate.close());
  const bot = await writeBot('slow', { prelude: gate.prelude });
  onTestFinished(() => bot.remove());
  const environment = { DATABASE_URL: database.url, BOTHOST_ON_STOP: 'leave' };
  const service = await openCrashService({ writeAgents: () => [bot.path], environment });
  onTestFinished(() => service.remove());
  // The first session uses the instance that was started to validate the deployment.
  await evaluateJavaScriptInBot(service, 'slow', await startAgentSession(service, 'slow'), 'true');
  gate.shut();
  const sessionId = await startAgentSession(service, 'slow');
  const go = await gate.next();

  service.current().signal('SIGTERM');
  expect(await service.current().exited).toBe(0);
  // Let only the bot process that is already starting listen on its port. If the next server process started a second bot
  // process for the session, that bot process would never listen, and the test would fail.
  await service.start({ BOTHOST_ON_STOP: 'end' }).ready;
  go('go');
  expect(await evaluateJavaScriptInBot(service, 'slow', sessionId, '"started"')).toBe('started');
});
