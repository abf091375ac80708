import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildImage, noEngine, runDocker } from '../../../runtime/test/docker/engine.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { createBearerTokenHeaders, sessionUrl, startAgentSession, waitForSessionEnd } from '../support/client.ts';
import { hasDockerRegistry } from '../support/docker-registry.ts';
import { defineDeployTests } from './deploy-tests.ts';
import { findContainer, getSessionLengthMs, type ImageRegion, openImageRegion } from './image-region.ts';
import { defineRestartTests } from './restart-tests.ts';
import { defineSessionTests } from './session-tests.ts';

/** Milliseconds to build the images, and to push the base image, without a cache. */
const setUpMs = 10 * 60_000;
// Images that are not pushed, because to compress their layers takes long.
const parrot = 'bothost-test-parrot:1';
const pipecat = 'bothost-test-pipecat:1';
/** The shortest time limit of a session in seconds. */
const limitSeconds = 60;
const load = { cpuMillicores: 200, megabytes: 100, seconds: 3600 };

const missing = noEngine ?? ((await hasDockerRegistry()) ? null : 'docker-registry is not installed');

// One service and one registry for all tests, because the start of each takes seconds.
describeUnless(missing, 'the service on a Docker engine', () => {
  let region: ImageRegion;
  /** A session that runs during all tests, with a known load. */
  let longSession: string;
  let hostId: string;

  beforeAll(async () => {
    region = await openImageRegion();
    await Promise.all([
      buildImage(pipecat, fileURLToPath(new URL('pipecat-base', import.meta.url))),
      buildImage(parrot, fileURLToPath(new URL('../../../../examples/parrot', import.meta.url))),
    ]);
    const puppet = await region.pushBot('puppet');
    await Promise.all([
      region.deploy('parrot', { image: parrot, imagePullSecretSet: null, conversation: { level: 'transcript' } }),
      region.deploy('limited', { image: parrot, imagePullSecretSet: null, maxSessionDuration: limitSeconds }),
      region.deploy('puppet', { image: puppet, websocketAuth: 'none' }),
      region.deploy('pipecat', { image: pipecat, imagePullSecretSet: null }),
    ]);
    const label = '{{index .Config.Labels "bothost.host"}}';
    hostId = await runDocker('inspect', '-f', label, await findContainer(region, 'parrot'));
    longSession = await startAgentSession(region, 'limited');
    const url = sessionUrl(region, 'limited', longSession, '/burn');
    const init = { method: 'POST', body: JSON.stringify(load), ...createBearerTokenHeaders(region.publicKey) };
    // The response ends with the session.
    await fetch(url, init);
  }, setUpMs);
  afterAll(async () => {
    await region?.close();
    const filter = ['--filter', `label=bothost.host=${hostId}`];
    expect(await runDocker('ps', '-aq', ...filter)).toBe('');
    expect(await runDocker('network', 'ls', '-q', ...filter)).toBe('');
  });

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
});
