import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { noEngine, runDocker } from '../../../runtime/test/docker/engine.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { createTestAuthority } from '../../../runtime/test/test-authority.ts';
import { buildPipecatImage, pipecatImage as image } from '../image-region/pipecat-image.ts';
import { createBearerTokenHeaders, sessionUrl, waitForSessionEnd } from '../support/client.ts';
import { findFreePort } from '../support/free-port.ts';
import { findMissingTurnServer, networkAddress, startTurnServer, type TurnServer } from '../support/turn-server.ts';
import { type DockerService, startDockerService } from './docker-service.ts';

const agentName = 'pipecat';
const program = fileURLToPath(new URL('../support/relayed_call.py', import.meta.url));
const secret = 'shared-by-service-and-relay';

describeUnless(noEngine ?? (await findMissingTurnServer()), 'a TURN server as in docs/media.md', () => {
  let folder: string;
  let turnServer: TurnServer;
  let service: DockerService;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bothost-turn-'));
    const certificate = await (await createTestAuthority(folder)).issue([`IP:${networkAddress}`]);
    turnServer = await startTurnServer({ folder, secret, certificate });
    const port = String(await findFreePort());
    service = await startDockerService(
      { host: 'unix:///var/run/docker.sock' },
      {
        BOTHOST_LOCAL_IMAGES: 'true',
        BOTHOST_HOST: networkAddress ?? '',
        BOTHOST_PORT: port,
        BOTHOST_INTERNAL_URL: `http://${networkAddress}:${port}`,
        BOTHOST_ICE_SERVERS: JSON.stringify([{ urls: `turn:${turnServer.address}:${turnServer.port}` }]),
        BOTHOST_TURN_SECRET: secret,
      },
    );
    await buildPipecatImage();
    expect((await service.deploy(agentName, image)).errors).toEqual([]);
  }, 600_000);
  afterAll(async () => {
    await service?.close();
    await turnServer?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('connects a client that sends all packets to the relay with a bot in a container', async () => {
    const { sessionId = '', iceConfig } = await service.publicClient.startSession({
      params: { agentName },
      body: { transport: 'webrtc', enableDefaultIceServers: true },
    });
    await fetch(sessionUrl(service, agentName, sessionId, '/readyz'), createBearerTokenHeaders(service.publicKey));
    const url = sessionUrl(service, agentName, sessionId, '/api/offer');
    const container = ['run', '--rm', '--network', 'host', '-v', `${program}:/call.py:ro`, image, 'python', '/call.py'];
    const output = await runDocker(...container, url, service.publicKey, JSON.stringify(iceConfig?.iceServers));
    expect(JSON.parse(output)).toEqual({ candidates: ['relay'], frames: 50 });
    expect(await waitForSessionEnd(service, agentName, sessionId)).toMatchObject({
      completionStatus: 'HTTP_COMPLETED',
    });
  });
});
