import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { startTestServer } from './support/test-server.ts';

const parrot = fileURLToPath(new URL('../../../examples/parrot', import.meta.url));
const service = await startTestServer({ agents: [parrot] });
afterAll(() => service.close());

it('metrics show the CPU and memory load that a bot generates, during its session and after its end', async () => {
  const load = { cpuMillicores: 300, megabytes: 200, seconds: 8 };
  const { sessionId = '' } = await service.publicClient.startSession({ params: { agentName: 'parrot' }, body: {} });
  const burned = await fetch(`${service.url}/v1/public/parrot/sessions/${sessionId}/burn`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.publicKey}` },
    body: JSON.stringify(load),
  });
  // The bot sends the response headers when the load starts, and a body with the used CPU time when the load ends.
  const begun = performance.now();
  const answer = (await burned.json()) as { readonly cpuMilliseconds: number };
  const seconds = (performance.now() - begun) / 1000;
  expect(answer).toMatchObject(load);
  expect(answer.cpuMilliseconds).toBeGreaterThanOrEqual(load.cpuMillicores * load.seconds);
  // The mean CPU use is the load of 300 millicores plus that of Node itself, or less if a busy machine slowed the load.
  const millicores = answer.cpuMilliseconds / seconds;

  const path = { params: { agentName: 'parrot', sessionId } };
  await service.client.stopSession(path);
  const look = async () => service.client.getSession(path);
  await expect.poll(async () => (await look()).endedAt).not.toBeNull();
  const { resourceMetrics: metrics } = await look();

  expect(metrics?.sampleCount).toBeGreaterThanOrEqual(load.seconds - 2);
  // The median (P50) shows the load, because the bot was under load during at least half of the samples.
  expect(metrics?.cpuMillicoresP50).toBeGreaterThan(millicores * 0.7);
  expect(metrics?.cpuMillicoresP50).toBeLessThan(millicores * 1.4);
  expect(metrics?.memoryBytesP50).toBeGreaterThan(load.megabytes * 1_000_000);
  expect(metrics?.memoryBytesP50).toBeLessThan((load.megabytes + 200) * 1_000_000);
  expect(metrics?.timeseries.length).toBeGreaterThanOrEqual(2);
});
