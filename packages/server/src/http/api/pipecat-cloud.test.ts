import { unsupportedPipecatCloudOperations } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { sendRawRequest } from '../../../test/support/ask.ts';
import { startAgentSession, waitForSessionEnd } from '../../../test/support/client.ts';
import { useTestServer } from '../../../test/support/use-test-server.ts';

/** The paths, and the fields of requests and responses, are those of `pipecatcloud` 1.4.0, the CLI of Pipecat Cloud. */
const service = await useTestServer({ bots: { spoken: {} } });

const call = (method: string, path: string, body?: unknown) =>
  sendRawRequest(service, method, `/organizations/${service.organization}${path}`, body);
const missing = '01890000-0000-7000-8000-000000000000';

describe('/organizations/{organization}/services', () => {
  it('lists the agents with all fields that the CLI of Pipecat Cloud reads', async () => {
    const { json } = await call('GET', '/services?include=git');
    const read = ['id', 'name', 'region', 'activeDeploymentId', 'createdAt', 'updatedAt'];
    expect(json['services']).toEqual([expect.objectContaining({ name: 'spoken' })]);
    expect(Object.keys((json['services'] as object[])[0] ?? {})).toEqual(expect.arrayContaining(read));
  });

  it('returns a single agent in the field `body` of the response', async () => {
    const { json } = await call('GET', '/services/spoken');
    expect(json).toEqual({ body: expect.objectContaining({ ready: true, autoScaling: expect.any(Object) }) });
    expect((await call('GET', '/services/nobody')).status).toBe(404);
  });

  it('changes the agent that the body of a PUT names', async () => {
    const change = { serviceName: 'spoken', autoScaling: { minAgents: 0, maxAgents: 7 }, krispViva: {} };
    expect(await call('PUT', '/services', change)).toMatchObject({
      status: 200,
      json: { autoScaling: { maxReplicas: 7 }, change: 'scaling' },
    });
    expect((await call('PUT', '/services', { ...change, serviceName: 'nobody' })).status).toBe(404);
  });

  it('refuses a deployment of a container image, with an error that names the field', async () => {
    const { status, json } = await call('POST', '/services', { serviceName: 'pulled', image: 'team/bot:1' });
    expect([status, json['error']]).toEqual([400, expect.stringContaining('image: this region runs builds')]);
  });

  it('serves the deployments, logs and sessions of an agent', async () => {
    const id = await startAgentSession(service, 'spoken');
    const { json: one } = await call('GET', `/services/spoken/sessions/${id}`);
    expect(one).toMatchObject({ sessionId: id, endedAt: null, events: expect.any(Array) });
    const { json: list } = await call('GET', '/services/spoken/sessions');
    expect(list['sessions']).toContainEqual(expect.objectContaining({ sessionId: id }));
    const { json: history } = await call('GET', '/services/spoken/deployments');
    expect(history['deployments']).toEqual([expect.objectContaining({ manifest: expect.any(Object) })]);
    expect((await call('GET', '/services/spoken/logs?limit=100')).json['logs']).toEqual(expect.any(Array));
  });
});

describe('a DELETE of a session', () => {
  it('stops the session, and succeeds again after the session has ended', async () => {
    const id = await startAgentSession(service, 'spoken');
    const stopped = { status: 200, json: { status: 'terminated', session_id: id } };
    expect(await call('DELETE', `/services/spoken/sessions/${id}`)).toMatchObject(stopped);
    expect((await waitForSessionEnd(service, 'spoken', id)).completionStatus).toBe('SESSION_STOPPED');
    expect(await call('DELETE', `/services/spoken/sessions/${id}`)).toMatchObject(stopped);
  });

  it('never answers 404, which the CLI reads as success', async () => {
    for (const path of [`/services/spoken/sessions/${missing}`, `/services/nobody/sessions/x`]) {
      const { status, json } = await call('DELETE', path);
      expect([status, json['reason']]).toEqual([409, 'nothing-to-stop']);
    }
  });
});

it('a session start by the CLI for a missing agent gets 409, because the CLI reads 404 as success', async () => {
  const start = (userAgent: string) =>
    sendRawRequest(
      service,
      'POST',
      '/public/nobody/start',
      {},
      { key: service.publicKey, headers: { 'user-agent': userAgent } },
    );
  expect(await start('PipecatCloudCLI/1.4.0')).toMatchObject({ status: 409, json: { code: '404' } });
  expect(await start('curl/8')).toMatchObject({ status: 404, json: { code: '404' } });
});

describe('API keys', () => {
  it('can be created, listed in full if they are public, and revoked', async () => {
    const { json: made } = await call('POST', '/apiKeys', { name: 'site', type: 'public' });
    const list = async () => (await call('GET', '/apiKeys')).json as Record<'public' | 'private', { id: string }[]>;
    const site = { id: made['id'], key: made['key'], metadata: { name: 'site' } };
    expect((await list()).public).toContainEqual({ ...site, revoked: false, createdAt: expect.any(String) });
    expect((await list()).private).toEqual([expect.objectContaining({ key: 'sk_pppp...' })]);
    expect((await call('DELETE', `/apiKeys/${made['id']}`)).status).toBe(200);
    expect((await list()).public).toContainEqual({ ...site, revoked: true, createdAt: expect.any(String) });
  });

  it('are shown as revoked after they expire', async () => {
    const made = await service.client.createKey({ body: { name: 'short', kind: 'public', expiresInSeconds: 1 } });
    const isRevoked = async () => {
      const { json } = await call('GET', '/apiKeys');
      return (json['public'] as { id: string; revoked: boolean }[]).find(({ id }) => id === made.id)?.revoked;
    };
    await expect.poll(isRevoked).toBe(true);
  });

  it('identify the caller in GET /users', async () => {
    const { json } = await sendRawRequest(service, 'GET', '/users');
    const [own] = (await service.client.listKeys()).keys.filter(({ kind }) => kind === 'private');
    expect(json).toEqual({ user: { userId: own?.id, emails: [] } });
  });
});

it('agent profiles are listed with CPU and memory', async () => {
  const { json } = await call('GET', '/agent-profiles');
  const large = { api_name: 'agent-3x', display_name: 'agent-3x', resources: { cpu: '1.5', memory: '3Gi' } };
  expect(json['agentProfiles']).toContainEqual({ ...large, custom: false, enabled: true });
});

it('GET /registry-keys returns an empty list', async () => {
  expect((await call('GET', '/registry-keys')).json).toEqual({ registry_keys: [] });
});

it.each(Object.values(unsupportedPipecatCloudOperations))(
  'the unsupported operation $name gets 400 with an explanation',
  async (one) => {
    const path = one.path.replace(/\{\w+\}/g, 'x');
    const { status, json } = await call(one.method, path, /GET|DELETE/.test(one.method) ? undefined : {});
    expect([status, json['reason']]).toEqual([400, 'not-offered']);
    expect(json['error']).toMatch(/^[A-Z][^[\]]+\.$/);
  },
);
