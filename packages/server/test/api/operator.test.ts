import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createApiClient, type VaultStatus, type VaultTask } from '@bothost/contract';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { openTestConnections } from '../support/test-database.ts';
import { useTestServer } from '../support/use-test-server.ts';

const lines: string[] = [];

const logger = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
const service = await useTestServer({ logger });
const token = (await readFile(join(service.dataDirectory, 'operator-token'), 'utf8')).trim();
const operator = createApiClient({ origin: service.url, key: token });

const finished = async (kind: VaultTask['task'], begun: VaultStatus): Promise<VaultTask> => {
  let found = begun.tasks.find(({ task }) => task === kind);
  await expect
    .poll(async () => {
      found = (await operator.getVault()).tasks.find(({ task }) => task === kind);
      return found?.state;
    })
    .toBe('done');
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
};
const put = (secretKey: string, secretValue: string) =>
  service.client.putSecrets({ params: { setName: 'keys' }, body: { secrets: [{ secretKey, secretValue }] } });
const ready = () => service.client.getSecretSet({ params: { setName: 'keys' } });
const isServiceReady = async () => (await fetch(`${service.url}/readyz`)).status;

describe('the operator of a service', () => {
  it('finds the operator token in a file with mode 0600', async () => {
    expect((await stat(join(service.dataDirectory, 'operator-token'))).mode & 0o777).toBe(0o600);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ['no token', null, 'key-missing'],
    ['a wrong token', 'ab'.repeat(32), 'key-invalid'],
    ['a private API key', 'private', 'key-invalid'],
    ['a public API key', 'public', 'key-invalid'],
  ])('receives 401 for a request with %s', async (_, key, reason) => {
    const given = { private: service.privateKey, public: service.publicKey }[key ?? ''] ?? key;
    const headers = given === null ? {} : { authorization: `Bearer ${given}` };
    for (const path of ['vault', 'nothing', 'vault/rotate', 'backup'].map((name) => `/v1/operator/${name}`)) {
      const answer = await fetch(service.url + path, { headers });
      expect([answer.status, await answer.json()]).toMatchObject([401, { reason }]);
    }
  });

  it("cannot use an API key, and each attempt is recorded in the audit log of the key's organization", async () => {
    const asked = async (method: string, path: string, key: string) =>
      (await fetch(`${service.url}/v1/operator/${path}`, { method, headers: { authorization: `Bearer ${key}` } }))
        .status;
    const { id, key } = await service.client.createKey({ body: { name: 'leaver', kind: 'private' } });
    await service.client.revokeKey({ params: { keyId: id } });
    const last = async () =>
      (await service.client.listAuditEntries({ query: { limit: 4 } })).entries.map(
        ({ action, object, keyName, address, result }) => [action, object, keyName, address, result],
      );
    expect(await asked('GET', 'vault', service.privateKey)).toBe(401);
    expect(await asked('POST', 'vault/rotate', service.publicKey)).toBe(401);
    expect(await asked('GET', 'backup', key)).toBe(401);
    expect(await asked('POST', 'vault/verify', `sk_${'x'.repeat(49)}`)).toBe(401);
    expect(await asked('POST', 'vault/verify', token.replace(/./, 'x'))).toBe(401);
    expect(await last()).toEqual([
      ['backup.create', null, 'leaver', '127.0.0.1', 'key-of-other-kind'],
      ['vault.rotate', null, 'first start', '127.0.0.1', 'key-of-other-kind'],
      ['vault.status', null, 'first start', '127.0.0.1', 'key-of-other-kind'],
      ['keys.revoke', id, 'first start', '127.0.0.1', 'done'],
    ]);
  });

  it('cannot use the operator token for other operations', async () => {
    const answer = await fetch(`${service.url}/v1/secrets`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(401);
    await expect(operator.listOrganizations()).rejects.toMatchObject({ reason: 'key-invalid' });
  });

  it("creates a private API key for an organization, and the organization's audit log records it", async () => {
    const created = await operator.createOperatorKey({ body: { name: 'found again' } });
    expect(created).toMatchObject({ organization: service.organization, kind: 'private', name: 'found again' });
    const client = createApiClient({ origin: service.url, key: created.key });
    expect((await client.listOrganizations()).organizations).toMatchObject([{ name: service.organization }]);
    expect((await client.listAuditEntries({ query: { limit: 1 } })).entries).toMatchObject([
      { action: 'keys.create', object: created.id, keyId: null, address: '127.0.0.1', result: 'done' },
    ]);
    const missing = operator.createOperatorKey({ body: { name: 'x', organization: 'nosuch' } });
    await expect(missing).rejects.toMatchObject({ reason: 'organization-not-found' });
  });

  it('rotates the root key and the organization keys, and verifies the vault without findings', async () => {
    await put('A', 'one');
    const before = await operator.getVault();
    const since = (await service.client.listAuditEntries({ query: { limit: 1 } })).entries[0]?.sequence ?? 0;
    const changed = await operator.rotateVault({ body: { layer: 'root' } });
    expect(changed.rootKeys.find(({ current }) => current)?.id).not.toBe(before.rootKeys[0]?.id);
    expect(await finished('rekey', changed)).toMatchObject({ findings: [] });
    const rotation = await finished('rotate', await operator.rotateVault({ body: { layer: 'organization' } }));
    expect(rotation).toMatchObject({ done: 1, total: 1, findings: [] });
    await put('B', 'two');
    expect((await operator.getVault()).behind).toEqual({ keys: 0, sets: 0 });
    expect(await finished('verify', await operator.verifyVault())).toMatchObject({ done: 1, total: 1, findings: [] });
    await expect.poll(async () => (await ready()).status).toBe('ready');
    expect((await ready()).secrets.map(({ fieldName }) => fieldName)).toEqual(['A', 'B']);
    const { entries } = await service.client.listAuditEntries({ query: { order: 'asc', limit: 1_000 } });
    const vaultEntries = entries.filter(({ sequence, action }) => sequence > since && action.startsWith('vault.'));
    expect(vaultEntries.map(({ action, result, address }) => [action, result, address])).toEqual([
      ['vault.rotate-root', 'started', '127.0.0.1'],
      ['vault.rotate', 'started', '127.0.0.1'],
      ['vault.verify', 'started', '127.0.0.1'],
    ]);
    expect(vaultEntries.every(({ keyId, requestId }) => keyId === null && requestId !== null)).toBe(true);
    expect(await service.client.verifyAudit()).toMatchObject({ ok: true });
  });

  it('can disconnect during a backup, which ends the database transaction of the backup', async () => {
    const db = await openTestConnections(service.database);
    const open = async () =>
      (
        await sql`select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'
          and query like 'fetch%'`.execute(db)
      ).rows.length;
    await sql`create table padding as select repeat('x', 100000) as text from generate_series(1, 1000)`.execute(db);
    const response = await fetch(`${service.url}/v1/operator/backup`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const reader = response.body?.getReader();
    await reader?.read();
    await expect.poll(open).toBe(1);
    await reader?.cancel();
    await expect.poll(open, { timeout: 10_000 }).toBe(0);
    await sql`drop table padding`.execute(db);
    await db.destroy();
  });

  it('gets 503 from the readiness probe while the root key cannot decrypt the stored test value', async () => {
    expect(await isServiceReady()).toBe(200);
    const db = await openTestConnections(service.database);
    const flip = () => sql`update vault_state set canary = set_byte(canary, 14, get_byte(canary, 14) # 1)`.execute(db);
    await flip();
    const answer = await fetch(`${service.url}/readyz`);
    expect([answer.status, await answer.json()]).toMatchObject([503, { missing: expect.stringContaining('root key') }]);
    expect((await finished('verify', await operator.verifyVault())).findings).toMatchObject([{ set: null }]);
    await flip();
    expect(await isServiceReady()).toBe(200);
    await db.destroy();
  });

  it('finds no operator token in the logs', () => {
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => line.includes(token))).toEqual([]);
  });
});
