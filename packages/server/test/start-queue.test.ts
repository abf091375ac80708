import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@bothost/contract';
import { expect, it } from 'vitest';
import { writeBot } from './support/bots.ts';
import { ended, evaluate, start, stop } from './support/client.ts';
import { insertSecondOrganization } from './support/second-organization.ts';
import { openGate } from './support/start-gate.ts';
import { startTestServer } from './support/test-server.ts';

it('the service limits concurrent starts of one organization without delaying another organization', async (test) => {
  const gate = await openGate();
  test.onTestFinished(() => gate.close());
  const [held, free] = [await writeBot('held', { prelude: gate.prelude }), await writeBot('free')];
  test.onTestFinished(() => held.remove());
  test.onTestFinished(() => free.remove());
  const service = await startTestServer({ agents: [held.path], environment: { BOTHOST_STARTS_AT_ONCE: '1' } });
  test.onTestFinished(() => service.close());
  // The first session uses the instance that validated the deployment.
  await evaluate(service, 'held', await start(service, 'held'), 'true');
  gate.shut();
  const first = await start(service, 'held');
  const firstBot = await gate.next();
  const [canceled, last] = [await start(service, 'held'), await start(service, 'held')];

  const neighbour = await insertSecondOrganization(service);
  test.onTestFinished(() => neighbour.close());
  await neighbour.serve(free.path);
  const other = {
    ...service,
    publicKey: neighbour.publicKey,
    publicClient: createClient({ origin: service.url, key: neighbour.publicKey }),
  };
  await expect
    .poll(() =>
      start(other, 'free').then(
        (id) => evaluate(other, 'free', id, '"free"'),
        () => null,
      ),
    )
    .toBe('free');
  await stop(service, 'held', canceled);
  expect((await ended(service, 'held', canceled)).completionStatus).toBe('SESSION_STOPPED');
  // Two running instances, one of each agent, and the start that the gate holds. The last start is still in the queue.
  expect(await readdir(join(service.dataDirectory, 'instances'))).toHaveLength(3);

  firstBot('go');
  expect(await evaluate(service, 'held', first, '"first"')).toBe('first');
  (await gate.next())('go');
  expect(await evaluate(service, 'held', last, '"last"')).toBe('last');
});
