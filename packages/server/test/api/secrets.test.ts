import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openTestConnections } from '../support/test-database.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

describe('API for secrets', () => {
  let service: TestServer;

  // Each test has its own service, so that the test starts without secrets.
  beforeEach(async () => {
    service = await startTestServer();
  });
  afterEach(() => service.close());

  async function ask(method: string, path: string, body?: unknown) {
    const response = await fetch(`${service.url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${service.privateKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }
  const ready = (name: string) =>
    expect.poll(async () => (await ask('GET', `/secrets/${name}`)).body['status']).toBe('ready');

  it('accepts a list of secrets, one secret or a pull secret, and returns a JSON object for a deletion', async () => {
    const many = { secrets: [{ secretKey: 'A', secretValue: '1' }], region: 'us-west' };
    expect(await ask('PUT', '/secrets/forms', many)).toMatchObject({
      status: 202,
      body: { status: 'OK', region: 'us-west' },
    });
    await ready('forms');
    expect(await ask('PUT', '/secrets/forms', many)).toMatchObject({ status: 200, body: { change: 'none' } });
    const one = { name: 'forms', isImagePullSecret: false, secretKey: 'B', secretValue: '2' };
    const path = `/organizations/${service.organization}/secrets`;
    expect((await ask('PUT', `${path}/forms`, one)).status).toBe(202);
    const pull = { isImagePullSecret: true, host: 'https://ghcr.io/', secretValue: btoa('me:pass') };
    expect((await ask('PUT', '/secrets/pull', pull)).status).toBe(202);
    expect((await ask('GET', path)).body['sets']).toMatchObject([{ name: 'forms' }, { name: 'pull', host: 'ghcr.io' }]);
    expect(await ask('DELETE', '/secrets/forms/A')).toMatchObject({ status: 200, body: { status: 'OK' } });
    expect((await ask('DELETE', '/secrets/forms/A')).status).toBe(404);
    expect((await ask('DELETE', '/secrets/forms/')).status).toBe(404);
    expect((await ask('DELETE', '/secrets/pull')).body).toMatchObject({ status: 'OK' });
    expect((await ask('GET', '/secrets/pull')).status).toBe(404);
    expect((await ask('PUT', '/secrets/a_b', many)).status).toBe(400);
  });

  it('answers 202 to a write that changes nothing while the delivery of the secret set is pending', async () => {
    const body = { secrets: [{ secretKey: 'A', secretValue: '1' }] };
    const db = await openTestConnections(service.database);
    onTestFinished(() => db.destroy());
    const deliveryIs = (state: 'pending' | 'failed') => {
      const of = state === 'failed' ? { error: 'The set is damaged.', done_at: new Date() } : { done_at: null };
      const next_at = new Date(Date.now() + 50_000);
      return db
        .updateTable('secret_deliveries')
        .set({ state, host_id: null, next_at, ...of })
        .execute();
    };
    await ask('PUT', '/secrets/slow', body);
    await ready('slow');
    await deliveryIs('pending');
    const pending = { status: 202, body: { change: 'none', revision: 1, readiness: 'pending' } };
    expect(await ask('PUT', '/secrets/slow', body)).toMatchObject(pending);
    expect(await ask('POST', '/secrets/slow/rollback', { revision: 1 })).toMatchObject(pending);
    expect((await ask('PUT', '/secrets/slow', { ...body, dryRun: true })).status).toBe(200);

    await deliveryIs('failed');
    expect((await ask('PUT', '/secrets/slow', { ...body, dryRun: true })).status).toBe(200);
    expect(await ask('PUT', '/secrets/slow', body)).toMatchObject(pending);
    await ready('slow');
    expect((await ask('PUT', '/secrets/slow', body)).status).toBe(200);
  });
});
