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

const service = await useTestServer();
const one = (await uploadAndBuildProject(service, createVersionedBot('one'))).id;
const two = (await uploadAndBuildProject(service, createVersionedBot('two'))).id;

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
