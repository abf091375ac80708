import type { PutSecretsRequest } from '@bothost/contract';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type FakeImageRegistry,
  formatHttpResponse,
  type ImageRegistryRequest,
  listLeakableCredentialEncodings,
  startFakeImageRegistry,
} from '../../test/support/fake-image-registry.ts';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault, getApiErrorReason } from '../../test/support/test-vault.ts';
import { verifyAudit } from '../audit/verify.ts';
import { deleteSecretSet } from './delete.ts';
import { listSecrets } from './list.ts';
import { createImageRegistryConnectionPolicy } from './registry/registry-policy.ts';
import { rollBackSecrets } from './rollback.ts';
import { verifyImagePullSecret } from './verify.ts';
import { writeSecrets } from './write.ts';
import { parseWriteRequest } from './write-request.ts';

const credentials = 'me:Pa:ss wörd';
const encoded = (text: string) => Buffer.from(text).toString('base64');

describe('image pull secrets', () => {
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let home: string;
  let registry: FakeImageRegistry;
  let meanwhile: () => Promise<void>;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows);
    home = await rows.organization('home');
    meanwhile = async () => {};
    registry = await startFakeImageRegistry((request, socket) => {
      void meanwhile().then(() => socket.write(answer(request)));
      return null;
    });
  });
  afterEach(async () => {
    await registry.close();
    await rows.close();
  });

  function answer({ line, headers }: ImageRegistryRequest): string {
    if (headers.get('authorization') !== `Basic ${encoded(credentials)}`) {
      return formatHttpResponse(401, { 'www-authenticate': 'Basic realm="x"' });
    }
    return formatHttpResponse(line.startsWith('HEAD') && !line.includes('/team/app/') ? 404 : 200);
  }

  const host = () => `http://registry.test:${registry.port}`;
  const registries = () => ({
    policy: createImageRegistryConnectionPolicy([host()], []),
    resolve: async () => ['127.0.0.1'],
    timeoutMs: 5_000,
  });
  const regions = { known: ['us-west'], standard: 'us-west' };
  const put = (text: string, more: Partial<PutSecretsRequest> = {}) => {
    const body = { isImagePullSecret: true, host: host(), secretValue: encoded(text), ...more };
    const request = parseWriteRequest(body, registries().policy);
    return writeSecrets(vault.context, vault.scopeOf(home), 'hub', request, regions);
  };
  const verify = (image: string | null = null, name = 'hub', organization = home) =>
    verifyImagePullSecret({ ...vault.context, registries: registries() }, vault.scopeOf(organization), name, image);
  const listed = async () => (await listSecrets(vault.context, { organizationId: home }, {}))[0];

  it('are checked on request, and are listed with the last result', async () => {
    await put(credentials);
    expect(await listed()).toMatchObject({ status: 'pending', verification: null, expiresAt: null });
    expect(await verify()).toMatchObject({ host: host(), revision: 1, verification: { result: 'verified' } });
    expect(await verify('team/app:1')).toMatchObject({ verification: { result: 'verified', image: 'team/app:1' } });
    expect(await verify('other')).toMatchObject({ verification: { result: 'rejected', image: 'other:latest' } });
    expect(await listed()).toMatchObject({
      status: 'pending',
      verification: { result: 'rejected', image: 'other:latest', checkedAt: '2026-11-20T12:00:00.000Z' },
    });
  });

  it('have no check result right after a write or rollback', async () => {
    await put(credentials);
    await verify();
    await put('me:wrong');
    expect(await listed()).toMatchObject({ revision: 2, verification: null });
    expect(await verify()).toMatchObject({ revision: 2, verification: { result: 'rejected' } });
    await rollBackSecrets(vault.context, vault.scopeOf(home), 'hub', { revision: 1 });
    expect(await listed()).toMatchObject({ revision: 3, verification: null });
    expect(await verify()).toMatchObject({ revision: 3, verification: { result: 'verified' } });
  });

  it('are stored only encrypted, and each check at the registry is recorded in the audit log', async () => {
    await put(credentials);
    await verify();
    await put('me:wrong');
    await verify();
    const { rows: entries } =
      await sql`select action, object, keys, result from audit_events order by sequence`.execute(rows.db);
    expect(entries).toEqual([
      { action: 'secrets.set', object: 'hub', keys: ['.dockerconfigjson'], result: 'done' },
      { action: 'secrets.verify', object: 'hub', keys: [], result: 'verified' },
      { action: 'secrets.set', object: 'hub', keys: ['.dockerconfigjson'], result: 'done' },
      { action: 'secrets.verify', object: 'hub', keys: [], result: 'rejected' },
    ]);
    expect(await verifyAudit(rows, { organizationId: home })).toMatchObject({ brokenAt: null });
    const { rows: tables } = await sql<{ text: string }>`select (select json_agg(c)::text from pull_secret_checks c) ||
      (select json_agg(a)::text from audit_events a) || (select json_agg(s)::text from secret_sets s) ||
      (select json_agg(v)::text from secret_values v) || (select json_agg(r)::text from secret_revisions r) as text`.execute(
      rows.db,
    );
    const stored = tables[0]?.text ?? '';
    expect(stored).toContain('verified');
    for (const form of listLeakableCredentialEncodings(credentials)) expect(stored).not.toContain(form);
  });

  it('are reported as missing if they are deleted during the check', async () => {
    await put(credentials);
    meanwhile = async () => {
      meanwhile = async () => {};
      await deleteSecretSet(vault.context, vault.scopeOf(home), 'hub', { force: false }, async () => []);
    };
    expect(await getApiErrorReason(verify())).toBe('secret-set-not-found');
  });

  it('are sent to a registry only if the organization has the secret set, the set names a registry, and the image is in that registry', async () => {
    await put(credentials);
    const other = await rows.organization('other');
    expect(await getApiErrorReason(verify(null, 'hub', other))).toBe('secret-set-not-found');
    expect(await getApiErrorReason(verify(null, 'none'))).toBe('secret-set-not-found');
    await vault.put(home, 'keys', createPutSecretsRequest({ A: '1' }));
    expect(await getApiErrorReason(verify(null, 'keys'))).toBe('secret-set-no-registry');
    expect(await getApiErrorReason(verify('quay.io/x/y'))).toBe('invalid-request');
    expect(registry.requests).toEqual([]);
  });

  it('are not sent to their registry if its host was changed in the database', async () => {
    await put(credentials);
    await sql`update secret_revisions set host = 'evil.example'`.execute(rows.db);
    expect(await getApiErrorReason(verify())).toBe('secret-set-damaged');
    expect(registry.requests).toEqual([]);
  });

  it('keep the expiry of unchanged credentials, and expire after 12 hours if they are Amazon ECR tokens', async () => {
    await put(credentials, { expiresAt: '2026-12-01T00:00:00Z' });
    expect(await put(credentials)).toMatchObject({ change: 'none', expiresAt: '2026-12-01T00:00:00.000Z' });
    expect(await put(credentials, { expiresAt: '2026-12-02T00:00:00+01:00' })).toMatchObject({
      change: 'updated',
      expiresAt: '2026-12-01T23:00:00.000Z',
    });
    expect(await put('me:new')).toMatchObject({ change: 'updated', expiresAt: null });
    const ecr = '123456789012.dkr.ecr.eu-west-1.amazonaws.com';
    expect(await put('AWS:token', { host: ecr })).toMatchObject({ expiresAt: '2026-11-21T00:00:00.000Z' });
    expect(await put('me:token', { host: ecr })).toMatchObject({ expiresAt: null });
    expect(await put('AWS:token', { host: 'amazonaws.com.evil.io' })).toMatchObject({ expiresAt: null });
    expect(await getApiErrorReason(put(credentials, { expiresAt: '2026-11-20T12:00:00Z' }))).toBe('invalid-request');
    await rollBackSecrets(vault.context, vault.scopeOf(home), 'hub', { revision: 2 });
    expect(await listed()).toMatchObject({ expiresAt: '2026-12-01T23:00:00.000Z' });
  });

  it('are refused for a registry without TLS unless the operator listed it', async () => {
    expect(await getApiErrorReason((async () => put(credentials, { host: 'http://other.test:5000' }))())).toBe(
      'invalid-request',
    );
    expect(await getApiErrorReason((async () => put(credentials, { host: 'http://ghcr.io' }))())).toBe(
      'invalid-request',
    );
    expect(await put(credentials)).toMatchObject({ change: 'created', host: host() });
  });
});
