import { Writable } from 'node:stream';
import { imagePullSecretCheckRateLimit } from '@bothost/contract';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { sendRawRequest } from '../support/ask.ts';
import {
  formatHttpResponse,
  listLeakableCredentialEncodings,
  startFakeImageRegistry,
} from '../support/fake-image-registry.ts';
import { createUniqueName } from '../support/unique-name.ts';
import { useTestServer } from '../support/use-test-server.ts';

const credentials = 'me:Pa:ss wörd';

let log = '';
let hub = '';

const registry = await startFakeImageRegistry(({ headers }) =>
  headers.has('authorization')
    ? formatHttpResponse(200)
    : formatHttpResponse(401, { 'www-authenticate': 'Basic realm="x"' }),
);
const output = new Writable({
  write: (chunk, _, done) => {
    log += String(chunk);
    done();
  },
});
const service = await useTestServer({
  environment: { BOTHOST_REGISTRIES: `http://localhost:${registry.port}` },
  logger: pino({ level: 'trace' }, output),
});
afterAll(async () => {
  await registry.close();
});

const put = (host: string) => {
  const secretValue = Buffer.from(credentials).toString('base64');
  return sendRawRequest(service, 'PUT', `/secrets/${hub}`, { isImagePullSecret: true, host, secretValue });
};

describe('API for image pull secrets', () => {
  it('checks credentials at a registry without TLS only if BOTHOST_REGISTRIES lists the registry', async () => {
    hub = createUniqueName('hub');
    expect((await put('http://other.example')).json).toMatchObject({ reason: 'invalid-request' });
    expect(await put(`http://localhost:${registry.port}/`)).toMatchObject({
      status: 202,
      json: { host: `http://localhost:${registry.port}`, expiresAt: null },
    });
    const path = `/organizations/${service.organization}/secrets/${hub}/verify`;
    expect(await sendRawRequest(service, 'POST', path)).toMatchObject({
      status: 200,
      json: { status: 'OK', revision: 1, verification: { result: 'verified' } },
    });
    expect(await sendRawRequest(service, 'POST', '/secrets/none/verify')).toMatchObject({ status: 404 });
    expect(await sendRawRequest(service, 'POST', `/secrets/${hub}/verify`, { image: 'A b' })).toMatchObject({
      status: 400,
    });
    expect((await sendRawRequest(service, 'GET', '/secrets')).json['sets']).toContainEqual(
      expect.objectContaining({ name: hub, verification: expect.objectContaining({ result: 'verified' }) }),
    );
  });

  it('limits the rate of credential checks, and records refused checks in the audit log', async () => {
    let answer = await sendRawRequest(service, 'POST', `/secrets/${hub}/verify`);
    for (let number = 0; number < 3 * imagePullSecretCheckRateLimit.burst && answer.status === 200; number++) {
      answer = await sendRawRequest(service, 'POST', `/secrets/${hub}/verify`);
    }
    expect(answer).toMatchObject({ status: 429, json: { reason: 'too-many-checks' } });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    const { entries } = await service.client.listAuditEntries({ query: { action: 'secrets.verify' } });
    const results = new Set(entries.map(({ result }) => result));
    expect([...results].sort()).toEqual(['invalid-request', 'secret-set-not-found', 'too-many-checks', 'verified']);
  });

  it('shows no credentials in logs, responses and audit entries', async () => {
    const { entries } = await service.client.listAuditEntries({ query: {} });
    const shown = log + JSON.stringify([entries, (await sendRawRequest(service, 'GET', '/secrets')).json]);
    expect(shown).toContain('secrets.verify');
    for (const form of listLeakableCredentialEncodings(credentials)) expect(shown).not.toContain(form);
  });
});
