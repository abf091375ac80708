import { expect, it } from 'vitest';
import { type ApiClient, ConnectionError } from './client.ts';
import { createApiError } from './errors.ts';
import { submitDeployment } from './submit-deployment.ts';

const target = { agentName: 'parrot', region: 'us-west', latestDeploymentId: 'first' };
const options = { signal: new AbortController().signal, retry: <T>(read: () => Promise<T>) => read() };

/**
 * Fakes a service with an agent that has the deployment `deploymentId`, or with no agent if `deploymentId` is null. The first
 * write throws `error`, and creates a deployment only if `executes` is true. Later writes succeed.
 */
function createFakeClient(deploymentId: string | null, { executes, error }: { executes: boolean; error: Error }) {
  const service = { deploymentId, buildId: 'new', writes: 0 };
  const write = async () => {
    service.writes += 1;
    if (service.writes > 1 || executes) service.deploymentId = `of write ${service.writes}`;
    if (service.writes === 1) throw error;
    return { desiredDeploymentId: service.deploymentId, change: 'deployment' };
  };
  const getAgent = async () => {
    if (service.deploymentId === null) throw createApiError('not-found');
    return { desiredDeploymentId: service.deploymentId };
  };
  const getDeployment = async () => ({ buildId: service.buildId });
  return {
    service,
    client: { createAgent: write, updateAgent: write, getAgent, getDeployment } as unknown as ApiClient,
  };
}

const lost = new ConnectionError('connection lost');

it.each([null, 'first'])(
  'submitDeployment returns the created deployment if the response is lost (latest deployment: %s)',
  async (latestDeploymentId) => {
    const { service, client } = createFakeClient(latestDeploymentId, { executes: true, error: lost });
    const accepted = await submitDeployment(client, { ...target, latestDeploymentId }, { buildId: 'new' }, options);
    expect(accepted).toMatchObject({ agentName: 'parrot', deploymentId: 'of write 1', change: 'deployment' });
    expect(service.writes).toBe(1);
  },
);

it.each([null, 'first'])(
  'submitDeployment repeats a request if the connection was lost and no deployment was created (latest deployment: %s)',
  async (latestDeploymentId) => {
    const { service, client } = createFakeClient(latestDeploymentId, { executes: false, error: lost });
    const accepted = await submitDeployment(client, { ...target, latestDeploymentId }, { buildId: 'new' }, options);
    expect(accepted).toMatchObject({ deploymentId: 'of write 2' });
    expect(service.writes).toBe(2);
  },
);

it('submitDeployment repeats a request after a lost connection if the latest deployment does not have the requested build', async () => {
  const { service, client } = createFakeClient('first', { executes: true, error: lost });
  service.buildId = 'of somebody else';
  const accepted = await submitDeployment(client, target, { buildId: 'new' }, options);
  expect(accepted).toMatchObject({ deploymentId: 'of write 2' });
});

it('submitDeployment does not repeat a request that the service rejects', async () => {
  const { service, client } = createFakeClient('first', { executes: false, error: createApiError('invalid-request') });
  await expect(submitDeployment(client, target, {}, options)).rejects.toMatchObject({ reason: 'invalid-request' });
  expect(service.writes).toBe(1);
});
