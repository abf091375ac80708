import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createApiClient } from '@bothost/contract';
import { expect, it } from 'vitest';
import { createBotColdStartGate } from './support/bot-cold-start-gate.ts';
import { writeBot } from './support/bots.ts';
import { evaluateJavaScriptInBot, startAgentSession, stopAgentSession, waitForSessionEnd } from './support/client.ts';
import { insertSecondOrganization } from './support/second-organization.ts';
import { startTestServer } from './support/test-server.ts';

it('the service limits concurrent starts of one organization without delaying another organization', async (test) => {
  const gate = await createBotColdStartGate();
  test.onTestFinished(() => gate.close());
  const [held, free] = [await writeBot('held', { prelude: gate.prelude }), await writeBot('free')];
  test.onTestFinished(() => held.remove());
  test.onTestFinished(() => free.remove());
  const service = await startTestServer({ agents: [held.path], environment: { BOTHOST_STARTS_AT_ONCE: '1' } });
  test.onTestFinished(() => service.close());
  // The first session uses the instance that was started to validate the deployment.
  await evaluateJavaScriptInBot(service, 'held', await startAgentSession(service, 'held'), 'true');
  gate.shut();
  const first = await startAgentSession(service, 'held');
  const firstBot = await gate.next();
  const [canceled, last] = [await startAgentSession(service, 'held'), await startAgentSession(service, 'held')];

  const neighbour = await insertSecondOrganization(service);
  test.onTestFinished(() => neighbour.close());
  await neighbour.serve(free.path);
  const other = {
    ...service,
    publicKey: neighbour.publicKey,
    publicClient: createApiClient({ origin: service.url, key: neighbour.publicKey }),
  };
  await expect
    .poll(() =>
      startAgentSession(other, 'free').then(
        (id) => evaluateJavaScriptInBot(other, 'free', id, '"free"'),
        () => null,
      ),
    )
    .toBe('free');
  await stopAgentSession(service, 'held', canceled);
  expect((await waitForSessionEnd(service, 'held', canceled)).completionStatus).toBe('SESSION_STOPPED');
  // Only started instances have a directory: one running instance of each of the two agents, and the instance whose cold start
  // this test delays. The instance for the session `last` has none, because its start is still queued.
  expect(await readdir(join(service.dataDirectory, 'instances'))).toHaveLength(3);

  firstBot('go');
  expect(await evaluateJavaScriptInBot(service, 'held', first, '"first"')).toBe('first');
  (await gate.next())('go');
  expect(await evaluateJavaScriptInBot(service, 'held', last, '"last"')).toBe('last');
});
