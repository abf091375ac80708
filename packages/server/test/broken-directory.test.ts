import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { formatReadyMessage } from '../src/composition/ready-message.ts';
import { writeBot } from './support/bots.ts';
import { startTestServer } from './support/test-server.ts';

const bots = [await writeBot('whole'), await writeBot('broken')];
await rm(join(bots[1]?.path ?? '', 'main.js'));
const service = await startTestServer({ agents: bots.map(({ path }) => path) });
afterAll(async () => {
  await service.close();
  for (const bot of bots) await bot.remove();
});

it('a directory without a bot is reported at startup, and the other directories are served', async () => {
  const [whole, broken] = service.server.agents;
  expect(whole).toEqual({ name: 'whole', problem: null });
  expect(broken).toEqual({ name: 'broken', problem: expect.stringMatching(/^broken: .*main\.js/) });
  const greeting = formatReadyMessage(service.server, false, null);
  expect(greeting).toContain(`${service.url}/talk/whole`);
  expect(greeting).not.toContain('/talk/broken');

  const path = { params: { agentName: 'broken' } };
  expect(await service.client.getAgent(path)).toMatchObject({
    ready: false,
    conditions: [{ type: 'Degraded', reason: 'PrepareFailed', message: expect.stringContaining('main.js') }],
  });
  await expect(service.publicClient.startSession({ ...path, body: {} })).rejects.toMatchObject({
    reason: 'deployment-not-ready',
  });
});
