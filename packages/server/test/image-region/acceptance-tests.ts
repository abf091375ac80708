import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildImage } from '../../../runtime/test/docker/engine.ts';
import { createBearerTokenHeaders, sessionUrl, startAgentSession, waitForSessionEnd } from '../support/client.ts';
import { defineDeployTests } from './deploy-tests.ts';
import { type BotPlatform, getSessionLengthMs, type ImageRegion, openImageRegion } from './image-region.ts';
import { buildPipecatImage, pipecatImage } from './pipecat-image.ts';
import { defineRestartTests } from './restart-tests.ts';
import { defineSessionTests } from './session-tests.ts';

/** Milliseconds to build and publish the images without a cache. */
const setUpMs = 10 * 60_000;
const parrotImage = 'bothost-test-parrot:1';
/** The shortest time limit of a session in seconds. */
const limitSeconds = 60;
const load = { cpuMillicores: 200, megabytes: 100, seconds: 3600 };

/**
 * Defines what the service must do on every platform that runs bots from images. `defineOwnTests` adds those of one platform. All
 * use one service and one registry, because the start of each takes seconds.
 */
export function defineAcceptanceTests(
  openPlatform: () => Promise<BotPlatform>,
  defineOwnTests: (getRegion: () => ImageRegion) => void = () => undefined,
): void {
  let region: ImageRegion;
  /** A session that runs during all tests, with a known load. */
  let longSession: string;

  beforeAll(async () => {
    const platform = await openPlatform();
    region = await openImageRegion(platform);
    await Promise.all([
      buildPipecatImage(),
      buildImage(parrotImage, fileURLToPath(new URL('../../../../examples/parrot', import.meta.url))),
    ]);
    // Not in the private registry, because compressing their layers takes long.
    const parrot = { image: await platform.publishImage(parrotImage), imagePullSecretSet: null };
    const pipecat = { image: await platform.publishImage(pipecatImage), imagePullSecretSet: null };
    const puppet = await region.pushBot('puppet');
    await Promise.all([
      region.deploy('parrot', { ...parrot, conversation: { level: 'transcript' } }),
      region.deploy('limited', { ...parrot, maxSessionDuration: limitSeconds }),
      region.deploy('puppet', { image: puppet, websocketAuth: 'none' }),
      region.deploy('pipecat', pipecat),
    ]);
    longSession = await startAgentSession(region, 'limited');
    const url = sessionUrl(region, 'limited', longSession, '/burn');
    const init = { method: 'POST', body: JSON.stringify(load), ...createBearerTokenHeaders(region.publicKey) };
    // The response ends with the session.
    await fetch(url, init);
  }, setUpMs);
  afterAll(() => region?.close());

  defineSessionTests(() => region);
  defineDeployTests(() => region);
  defineRestartTests(() => region);

  it(
    'a session ends at its time limit although the service was killed, and its usage is recorded',
    async () => {
      const session = await waitForSessionEnd(region, 'limited', longSession);
      expect(session).toMatchObject({ completionStatus: 'SESSION_TIME_LIMIT', endState: 'terminated' });
      const { resourceMetrics } = session;
      expect(Math.round(getSessionLengthMs(session) / 1000)).toBeGreaterThanOrEqual(limitSeconds);
      const megabyte = 1024 * 1024;
      expect(resourceMetrics?.memoryBytesP50).toBeGreaterThan(load.megabytes * megabyte);
      expect(resourceMetrics?.memoryBytesP50).toBeLessThan(3 * load.megabytes * megabyte);
      expect(resourceMetrics?.cpuMillicoresP50).toBeGreaterThan(0);
      expect(resourceMetrics?.cpuMillicoresP50).toBeLessThan(1.5 * load.cpuMillicores);
    },
    2 * limitSeconds * 1000,
  );
  defineOwnTests(() => region);
}
