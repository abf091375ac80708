import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from './support/test-server.ts';

const parrot = fileURLToPath(new URL('../../../examples/parrot', import.meta.url));

describe('a session of the parrot', () => {
  let service: TestServer;

  // Each attempt uses the warm instance of the start.
  beforeEach(async () => {
    service = await startTestServer({ agents: [parrot] });
  });
  afterEach(() => service.close());

  it('starts, responds through the proxy, can be stopped, and has a correct record', async () => {
    const { sessionId = '' } = await service.publicClient.startSession({ params: { agentName: 'parrot' }, body: {} });
    const hello = await fetch(`${service.url}/v1/public/parrot/sessions/${sessionId}/hello`, {
      headers: { authorization: `Bearer ${service.publicKey}` },
    });
    expect(await hello.json()).toMatchObject({ sessionId });

    const path = { agentName: 'parrot', sessionId };
    await service.client.stopSession({ params: path });
    await expect.poll(async () => (await service.client.getSession({ params: path })).endedAt).not.toBeNull();
    expect(await service.client.getSession({ params: path })).toMatchObject({
      sessionId,
      completionStatus: 'SESSION_STOPPED',
      coldStart: false,
      botStartSeconds: expect.any(Number),
      endState: 'terminated',
      meetingIds: [],
    });
  });
});
