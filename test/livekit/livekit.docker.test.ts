import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { buildImage, noEngine, runDocker } from '../../packages/runtime/test/docker/engine.ts';
import { describeUnless } from '../../packages/runtime/test/skip-with-reason.ts';
import { startDockerService } from '../../packages/server/test/docker/docker-service.ts';
import { waitForSessionEnd } from '../../packages/server/test/support/client.ts';
import { networkAddress } from '../../packages/server/test/support/turn-server.ts';
import { startLiveKitServer } from './livekit-server.ts';

const image = 'bothost-test-livekit:1';
const root = fileURLToPath(new URL('../..', import.meta.url));
const [agentName, toneHertz] = ['echo', 440];

async function buildBotImage(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bothost-livekit-image-'));
  try {
    await cp(join(import.meta.dirname, 'container'), folder, { recursive: true });
    await cp(join(root, 'examples/pipecat-echo/bot.py'), join(folder, 'echo.py'));
    await cp(join(root, 'runtimes/python/src/bothost_shim'), join(folder, 'bothost_shim'), { recursive: true });
    await buildImage(image, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describeUnless(noEngine ?? (networkAddress === undefined ? 'this machine has no network' : null), 'a container', () => {
  it('joins a room of LiveKit, answers a person there, and ends its session when the person leaves', async () => {
    const livekit = await startLiveKitServer(networkAddress);
    onTestFinished(livekit.close);
    await buildBotImage();
    const service = await startDockerService(
      { host: 'unix:///var/run/docker.sock' },
      {
        BOTHOST_LOCAL_IMAGES: 'true',
        BOTHOST_LIVEKIT_URL: livekit.server.url,
        BOTHOST_LIVEKIT_API_KEY: livekit.server.apiKey,
        BOTHOST_LIVEKIT_API_SECRET: livekit.server.apiSecret,
      },
    );
    onTestFinished(service.close);
    expect((await service.deploy(agentName, image)).errors).toEqual([]);
    const started = await service.publicClient.startSession({ params: { agentName }, body: { transport: 'livekit' } });
    const { sessionId = '', url = '', token = '' } = started;
    const call = ['run', '--rm', '--network', 'host', image, 'python', 'call.py', url, token];
    expect(Math.abs(Number(await runDocker(...call)) - toneHertz)).toBeLessThan(10);
    expect(await waitForSessionEnd(service, agentName, sessionId)).toMatchObject({
      completionStatus: 'HTTP_COMPLETED',
    });
  }, 900_000);
});
