import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import {
  noPrivateEngine,
  type PrivateEngine,
  startPrivateEngine,
} from '../../../runtime/test/docker/private-engine.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { type CrashService, openCrashService } from '../crash/crash-service.ts';
import { startAgentSession, waitForSessionEnd } from '../support/client.ts';
import { createVersionedBot, uploadAndBuildProject, waitForSettledDeployment } from '../support/deploys.ts';
import { expectVersion, importVersionedBot } from './docker-service.ts';

const agentName = 'bird';
const params = { agentName };
/** How to deploy to each runtime, and the sentence for an agent that was deployed to the other one. */
const runtimes = {
  process: {
    deploy: async ({ client }: CrashService) => ({
      buildId: (await uploadAndBuildProject({ client }, createVersionedBot('process'))).id,
    }),
    advice: `Region us-west now runs projects, not images. Run in the directory of the bot: botcli cloud deploy ${agentName}`,
  },
  docker: {
    deploy: async () => ({ image: 'bird:1' }),
    advice: `Region us-west now runs images, not projects. Push an image of the bot to a registry, then run: botcli cloud deploy ${agentName} IMAGE`,
  },
};

describeUnless(noPrivateEngine, 'a change of BOTHOST_RUNTIME', () => {
  let engine: PrivateEngine;
  beforeAll(async () => {
    engine = await startPrivateEngine();
    await importVersionedBot(engine, 'bird:1', 'docker');
  });
  afterAll(() => engine.close());

  it.each([
    ['process', 'docker'],
    ['docker', 'process'],
  ] as const)('from %s to %s is refused while bots run, and then agents say what to deploy', async (former, next) => {
    const service = await openCrashService({
      environment: {
        BOTHOST_RUNTIME: former,
        BOTHOST_DOCKER_HOST: engine.host,
        BOTHOST_LOCAL_IMAGES: 'true',
      },
    });
    onTestFinished(service.remove);
    const start = async (runtime: keyof typeof runtimes) => {
      const process = service.start({ BOTHOST_RUNTIME: runtime });
      await process.ready;
      return process;
    };
    const readConditions = async () => (await service.client.getAgent({ params })).conditions;

    const autoScaling = { minAgents: 1, maxAgents: 5 };
    const source = await runtimes[former].deploy(service);
    await service.client.createAgent({ body: { serviceName: agentName, ...source, autoScaling } });
    expect((await waitForSettledDeployment(service, agentName)).errors).toEqual([]);
    const live = await startAgentSession(service, agentName);
    await expectVersion(service, agentName, live, former);

    await service.kill();
    const refused = await start(next);
    expect([refused.readyAt(), await refused.exited]).toEqual([null, 1]);
    const sentence = new RegExp(
      `BOTHOST_RUNTIME is ${next}, but \\d instance\\(s\\) of the runtime ${former} still run\\. ` +
        `Start the service with BOTHOST_RUNTIME=${former} and stop it, so that it ends them\\. Then change the runtime\\.`,
    );
    await expect.poll(() => readFile(service.logFile, 'utf8')).toMatch(sentence);

    const resumed = await start(former);
    await expectVersion(service, agentName, live, former);
    resumed.signal('SIGTERM');
    expect(await resumed.exited).toBe(0);

    const changed = await start(next);
    expect(await waitForSessionEnd(service, agentName, live)).toMatchObject({ completionStatus: 'SESSION_STOPPED' });
    const condition = expect.objectContaining({ type: 'Degraded', message: runtimes[next].advice });
    await expect.poll(readConditions).toContainEqual(condition);
    await service.client.updateAgent({ params, body: await runtimes[next].deploy(service) });
    expect((await waitForSettledDeployment(service, agentName)).errors).toEqual([]);
    await expectVersion(service, agentName, await startAgentSession(service, agentName), next);
    changed.signal('SIGTERM');
    expect(await changed.exited).toBe(0);
    expect(await engine.run('ps', '-aq')).toBe('');
  });
});
