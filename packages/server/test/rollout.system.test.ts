import { describe, expect, it } from 'vitest';
import {
  createBearerTokenHeaders,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
  waitForSessionEnd,
} from './support/client.ts';
import { createVersionedBot, uploadAndBuildProject, waitForSettledDeployment } from './support/deploys.ts';
import { createUniqueName } from './support/unique-name.ts';
import { useTestServer } from './support/use-test-server.ts';

const loud = 'console.error("no voice to be found"); process.exit(3);';

const service = await useTestServer();
const one = (await uploadAndBuildProject(service, createVersionedBot('one'))).id;
const two = (await uploadAndBuildProject(service, createVersionedBot('two'))).id;
const broken = (await uploadAndBuildProject(service, createVersionedBot('broken', loud))).id;

const ask = async (agentName: string, sessionId: string, path: string) =>
  (await fetch(sessionUrl(service, agentName, sessionId, path), createBearerTokenHeaders(service.publicKey))).text();
const version = (agentName: string, sessionId: string) => ask(agentName, sessionId, '/version');
const show = (agentName: string) => service.client.getAgent({ params: { agentName } });
const session = (agentName: string, sessionId: string) =>
  service.client.getSession({ params: { agentName, sessionId } });
const deploy = (agentName: string, body: NonNullable<Parameters<typeof service.client.updateAgent>[0]['body']>) =>
  service.client.updateAgent({ params: { agentName }, body });
async function create(serviceName: string, buildId: string, maxAgents = 5) {
  await service.client.createAgent({ body: { serviceName, buildId, autoScaling: { maxAgents } } });
  return waitForSettledDeployment(service, serviceName);
}

describe('a deploy', () => {
  it('keeps live sessions on the old version, starts new ones on the new version, and can be rolled back', async () => {
    const name = createUniqueName('busy');
    const first = await create(name, one, 21);
    const old = await Promise.all(Array.from({ length: 20 }, () => startAgentSession(service, name)));
    expect(new Set(await Promise.all(old.map((id) => version(name, id))))).toEqual(new Set(['one']));

    expect(await deploy(name, { buildId: two })).toMatchObject({ change: 'deployment', available: true });
    const second = await waitForSettledDeployment(service, name);
    expect(second).toMatchObject({
      activeDeploymentReady: true,
      activeSessionCount: 20,
      currentRevision: { deploymentID: second.desiredDeploymentId, phase: 'Active', readyReplicas: 1 },
      previousRevision: { deploymentID: first.desiredDeploymentId, phase: 'Draining', readyReplicas: 20 },
      errors: [],
      conditions: [],
    });
    const young = await startAgentSession(service, name);
    expect(await version(name, young)).toBe('two');
    expect((await session(name, young)).deploymentId).toBe(second.activeDeploymentId);
    // The limit `max_agents` counts the sessions of all deployments of the agent together.
    await expect(startAgentSession(service, name)).rejects.toMatchObject({ reason: 'at-capacity' });

    expect(new Set(await Promise.all(old.map((id) => version(name, id))))).toEqual(new Set(['one']));
    for (const id of old) await ask(name, id, '/end?status=200');
    const records = await Promise.all(old.map((id) => waitForSessionEnd(service, name, id)));
    for (const record of records) {
      expect(record).toMatchObject({
        completionStatus: 'HTTP_COMPLETED',
        deploymentId: first.activeDeploymentId,
      });
    }
    await expect.poll(async () => (await show(name)).previousRevision).toBeNull();

    const rolled = await service.client.rollback({ params: { agentName: name }, body: {} });
    expect(rolled).toMatchObject({ change: 'deployment', deployment: { buildId: one } });
    await waitForSettledDeployment(service, name);
    const back = await startAgentSession(service, name);
    expect(await version(name, back)).toBe('one');
    expect(await version(name, young)).toBe('two');
    await Promise.all([young, back].map((id) => stopAgentSession(service, name, id)));
    const { deployments } = await service.client.listDeployments({ params: { agentName: name } });
    expect(deployments).toMatchObject([
      { serving: true, state: 'ready', buildId: one, rolledBackFrom: first.activeDeploymentId },
      { serving: false, state: 'ready', buildId: two },
      { serving: false, state: 'ready', buildId: one, rolledBackFrom: null },
    ]);
  });

  it('keeps the previous version serving and shows the error if the new bot does not start', async () => {
    const name = createUniqueName('careful');
    const first = await create(name, one);
    await deploy(name, { buildId: broken });
    const versions: string[] = [];
    for (let isOver = false; !isOver; ) {
      const id = await startAgentSession(service, name);
      versions.push(await version(name, id));
      await stopAgentSession(service, name, id);
      isOver = (await show(name)).errors.length > 0;
    }
    const id = await startAgentSession(service, name);
    expect([...versions, await version(name, id)].filter((text) => text !== 'one')).toEqual([]);
    await stopAgentSession(service, name, id);

    const failed = await show(name);
    expect(failed).toMatchObject({
      ready: true,
      available: true,
      activeDeploymentReady: false,
      activeDeploymentId: first.desiredDeploymentId,
      reconciledDeploymentId: failed.desiredDeploymentId,
      errors: [{ code: 'PCC_BOT_EXITED', message: expect.stringContaining('no voice to be found') }],
      currentRevision: { phase: 'Failed', health: { lastExitCode: 3, reason: 'Error' } },
      previousRevision: { phase: 'Active' },
    });
    const path = { params: { agentName: name, deploymentId: failed.desiredDeploymentId } };
    expect(await service.client.getDeployment(path)).toMatchObject({
      state: 'failed',
      failure: { code: 'PCC_BOT_EXITED', exitCode: 3, tail: expect.stringContaining('no voice to be found') },
    });

    await deploy(name, { buildId: two });
    expect(await waitForSettledDeployment(service, name)).toMatchObject({
      activeDeploymentReady: true,
      errors: [],
      conditions: [],
    });
  });

  it('serves nothing if the first version is broken, and serves the next working version', async () => {
    const name = createUniqueName('hopeful');
    expect(await create(name, broken)).toMatchObject({
      ready: false,
      available: false,
      activeDeploymentId: null,
      errors: [{ code: 'PCC_BOT_EXITED' }],
    });
    await expect(startAgentSession(service, name)).rejects.toMatchObject({ code: 'PCC-1001' });
    await deploy(name, { buildId: one });
    expect(await waitForSettledDeployment(service, name)).toMatchObject({
      ready: true,
      activeDeploymentReady: true,
      errors: [],
    });
  });

  it('leaves only the last requested deployment serving if many deploys run concurrently', async () => {
    const name = createUniqueName('hasty');
    await create(name, one);
    const all = Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? two : one));
    await Promise.all(all.map((buildId) => deploy(name, { buildId, forceRedeploy: true })));
    const { desiredDeploymentId } = await waitForSettledDeployment(service, name);
    const { deployments } = await service.client.listDeployments({ params: { agentName: name } });
    expect(deployments.filter(({ serving }) => serving).map(({ id }) => id)).toEqual([desiredDeploymentId]);
    const given = deployments.filter(({ state }) => state === 'failed');
    expect(new Set(given.map(({ failure }) => failure?.code))).toEqual(new Set(['PCC_SUPERSEDED']));
    await expect
      .poll(async () => {
        const { idleInstanceCount, startingInstanceCount } = await show(name);
        return [idleInstanceCount, startingInstanceCount];
      })
      .toEqual([1, 0]);
  });

  it('returns at once and changes nothing if the project is unchanged', async () => {
    const name = createUniqueName('calm');
    const { desiredDeploymentId } = await create(name, one);
    const again = await uploadAndBuildProject(service, createVersionedBot('one'));
    expect(again.id).toBe(one);
    expect(await deploy(name, { buildId: again.id })).toMatchObject({ change: 'none', desiredDeploymentId });
    expect(await deploy(name, { autoScaling: { minAgents: 1 } })).toMatchObject({
      change: 'scaling',
      desiredDeploymentId,
      autoScaling: { minReplicas: 1 },
    });
  });

  it('returns a warning if the name of the agent begins with "start"', async () => {
    const answer = await service.client.createAgent({
      body: { serviceName: createUniqueName('starter'), buildId: one },
    });
    expect(answer.warning).toMatch(/offerUrlTemplate/);
  });
});

describe('a deleted agent', () => {
  it('starts no new sessions, lets its live session continue, and frees its name', async () => {
    const name = createUniqueName('fleeting');
    await create(name, one);
    const id = await startAgentSession(service, name);
    expect(await version(name, id)).toBe('one');
    const deleted = await service.client.deleteAgent({ params: { agentName: name } });
    expect(deleted).toMatchObject({ status: 'OK', activeSessionCount: 1 });
    await expect(startAgentSession(service, name)).rejects.toMatchObject({ status: 404 });
    await expect(show(name)).rejects.toMatchObject({ reason: 'not-found' });

    await create(name, two);
    expect((await service.client.getSessions({ params: { agentName: name } })).total_count).toBe(0);
    expect(await session(deleted.id, id)).toMatchObject({ endedAt: null });
    await service.client.stopSession({ params: { agentName: deleted.id, sessionId: id } });
    expect(await waitForSessionEnd(service, deleted.id, id)).toMatchObject({ completionStatus: 'SESSION_STOPPED' });
  });
});
