import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../test-server.ts';

const parrot = fileURLToPath(new URL('../../../../examples/parrot', import.meta.url));
let service: TestServer;
beforeAll(async () => {
  service = await startTestServer({ agents: [parrot] });
});
afterAll(() => service.close());

it('metrics follow a bot that burns a known amount of CPU and memory, and stay after its end', async () => {
  const load = { cpuMillicores: 300, megabytes: 200, seconds: 8 };
  const { sessionId = '' } = await service.publicClient.startSession({ params: { agentName: 'parrot' }, body: {} });
  const burned = await fetch(`${service.url}/v1/public/parrot/sessions/${sessionId}/burn`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.publicKey}` },
    body: JSON.stringify(load),
  });
  expect(await burned.json()).toMatchObject(load);

  const path = { params: { agentName: 'parrot', sessionId } };
  await service.client.stopSession(path);
  const look = async () => service.client.getSession(path);
  await expect.poll(async () => (await look()).endedAt).not.toBeNull();
  const { resourceMetrics: metrics } = await look();

  expect(metrics?.sampleCount).toBeGreaterThanOrEqual(load.seconds - 2);
  // Half of the samples and more were taken while it burned; what Node itself needs comes on top.
  expect(metrics?.cpuMillicoresP50).toBeGreaterThan(load.cpuMillicores * 0.7);
  expect(metrics?.cpuMillicoresP50).toBeLessThan(load.cpuMillicores * 1.4);
  expect(metrics?.memoryBytesP50).toBeGreaterThan(load.megabytes * 1_000_000);
  expect(metrics?.memoryBytesP50).toBeLessThan((load.megabytes + 200) * 1_000_000);
  expect(metrics?.timeseries.length).toBeGreaterThanOrEqual(2);
});
