import { createHash } from 'node:crypto';
import { type AuditEntry, secretWriteDryRunRateLimit } from '@bothost/contract';
import pg from 'pg';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createClientConfig } from '../../src/store/address.ts';
import { sendRawRequest as askService } from '../support/ask.ts';
import { insertSecondOrganization } from '../support/second-organization.ts';
import { createUniqueName } from '../support/unique-name.ts';
import { useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

const canary = 'canary-5A7e-0c41';

let before = 0;

const ask = (method: string, path: string, body?: unknown, more?: object) =>
  askService(service, method, path, body, more);
const entries = async (query: object = {}) =>
  (await service.client.listAuditEntries({ query: { order: 'asc', limit: 1_000, ...query } })).entries;
const since = async () => (await entries()).filter(({ sequence }) => sequence > before);
const recorded = async () => (await since()).map(({ action, object, keys, result }) => [action, object, keys, result]);
const one = { secretKey: 'A', secretValue: canary };

const service = await useTestServer({ bots: { audited: {} } });
const neighbours = await useSecondOrganization(service);
beforeEach(async () => {
  before = (await entries()).at(-1)?.sequence ?? 0;
});

describe('the audit log', () => {
  it('begins with the creation of the API keys at the first start of the service', async () => {
    expect((await entries()).slice(0, 2)).toMatchObject([
      { sequence: 1, action: 'keys.create', keyId: null, keys: ['first start'], result: 'done' },
      { sequence: 2, action: 'keys.create', keyId: null, keys: ['first start'], result: 'done' },
    ]);
  });

  it('records the caller, IP address, object and request id of each change', async () => {
    const set = createUniqueName('audited-set');
    const puller = createUniqueName('puller');
    const put = await ask('PUT', `/secrets/${set}`, { secrets: [one] });
    await ask('PUT', `/secrets/${set}`, { secrets: [one] });
    await ask('PUT', `/secrets/${set}`, {
      secrets: [
        { ...one, secretValue: 'other' },
        { ...one, secretKey: 'B' },
      ],
    });
    await ask('PUT', `/secrets/${set}`, { remove: ['B'] });
    await ask('DELETE', `/secrets/${set}/A`);
    await ask('POST', `/secrets/${set}/rollback`, { revision: 1 });
    await ask('PUT', `/secrets/${set}`, { ...one, dryRun: true });
    await ask('POST', `/secrets/${set}/rollback`, { revision: 2, dryRun: true });
    await ask('PUT', `/secrets/${puller}`, {
      isImagePullSecret: true,
      host: 'ghcr.io',
      secretValue: btoa(`me:${canary}`),
    });
    await ask('DELETE', `/secrets/${set}`);
    const written = await since();
    const { keys } = await service.client.listKeys();
    expect(written[0]).toMatchObject({
      keyId: keys.find(({ kind }) => kind === 'private')?.id,
      keyName: 'first start',
      address: '127.0.0.1',
      region: 'us-west',
      action: 'secrets.set',
      object: set,
      keys: ['A'],
      revisionBefore: 0,
      revisionAfter: 1,
      result: 'done',
      count: 1,
      requestId: put.headers['x-request-id'],
    });
    const short = written.map((entry) => [
      entry.action.replace('secrets.', ''),
      entry.keys.join(),
      entry.revisionBefore,
      entry.revisionAfter,
      entry.result,
    ]);
    expect(short).toEqual([
      ['set', 'A', 0, 1, 'done'],
      ['set', '', 1, 1, 'unchanged'],
      ['set', 'A,B', 1, 2, 'done'],
      ['unset', 'B', 2, 3, 'done'],
      ['unset', 'A', 3, 4, 'done'],
      ['rollback', 'A', 4, 5, 'done'],
      ['set', '', 5, 5, 'dry-run'],
      ['rollback', 'A,B', 5, 5, 'dry-run'],
      ['set', expect.any(String), 0, 1, 'done'],
      ['delete', '', 5, null, 'done'],
    ]);
  });

  it('records refused requests with the reason, but without invalid names of secret sets and secrets', async () => {
    await ask('PUT', '/secrets/kept', { secrets: [one] });
    await ask('GET', '/secrets/nothing');
    await ask('GET', `/organizations/${neighbours.name}/secrets/theirs`);
    await ask('PUT', '/secrets/kept', { ...one, expectedRevision: 9 });
    await ask('PUT', '/secrets/kept', { secretKey: canary.repeat(9), secretValue: 'x' });
    await ask('PUT', `/secrets/${canary}%20x`, { secrets: [one] });
    await ask('PUT', '/secrets/kept', `{"secretKey": "${canary}`);
    await ask('PUT', '/secrets/kept', { ...one, region: 'nowhere' });
    await ask('DELETE', '/secrets/kept/NONE');
    await ask('DELETE', '/secrets/nothing?force=true');
    await ask('POST', '/secrets/kept/rollback', { revision: 7 });
    await ask('GET', '/secrets/nothing/history');
    await ask('GET', '/audit?limit=0');
    await ask('DELETE', `/keys/${crypto.randomUUID().toUpperCase()}`);
    await ask('POST', '/agents/audited', { secretSet: 'nothing' });
    expect((await recorded()).slice(1)).toEqual([
      ['secrets.get', 'nothing', [], 'secret-set-not-found'],
      ['secrets.get', 'theirs', [], 'organization-not-found'],
      ['secrets.set', 'kept', ['A'], 'secret-set-changed'],
      ['secrets.set', 'kept', [], 'invalid-request'],
      ['secrets.set', null, [], 'invalid-request'],
      ['secrets.set', 'kept', [], 'invalid-json'],
      ['secrets.set', 'kept', ['A'], 'region-unknown'],
      ['secrets.unset', 'kept', ['NONE'], 'secret-not-found'],
      ['secrets.delete', 'nothing', [], 'secret-set-not-found'],
      ['secrets.rollback', 'kept', [], 'secret-revision-not-found'],
      ['secrets.history', 'nothing', [], 'secret-set-not-found'],
      ['audit.list', null, [], 'invalid-request'],
      ['keys.revoke', expect.stringMatching(/^[0-9A-F-]{36}$/), [], 'key-not-found'],
      ['agents.deploy', 'nothing', [], 'secret-set-not-found'],
    ]);
  });

  it('records created and revoked keys, and refusals of revoked keys', async () => {
    const made = await service.client.createKey({ body: { name: 'leaver', kind: 'private' } });
    const short = await service.client.createKey({ body: { name: 'short', kind: 'private', expiresInSeconds: 1 } });
    await service.client.revokeKey({ params: { keyId: made.id } });
    await service.client.revokeKey({ params: { keyId: made.id } });
    expect((await ask('GET', '/secrets', undefined, { key: made.key })).status).toBe(401);
    expect((await ask('PUT', '/secrets/x', { secrets: [one] }, { key: service.publicKey })).status).toBe(401);
    await expect.poll(async () => (await ask('GET', '/secrets', undefined, { key: short.key })).status).toBe(401);
    expect((await ask('GET', '/secrets', undefined, { key: `sk_${'x'.repeat(49)}` })).status).toBe(401);
    const shown = (await since()).map(({ action, object, keys, keyName, result }) => [
      action,
      object ?? keys,
      keyName,
      result,
    ]);
    expect(shown).toEqual([
      ['keys.create', made.id, 'first start', 'done'],
      ['keys.create', short.id, 'first start', 'done'],
      ['keys.revoke', made.id, 'first start', 'done'],
      ['keys.revoke', made.id, 'first start', 'unchanged'],
      ['secrets.list', [], 'leaver', 'key-revoked'],
      ['secrets.set', 'x', 'first start', 'key-of-other-kind'],
      ['secrets.list', [], 'short', 'key-expired'],
    ]);
  });

  it('makes a change fail with 507 if the entry for the change cannot be written', async () => {
    const both = createUniqueName('both');
    const db = new pg.Client(createClientConfig(service.database.address));
    await db.connect();
    await ask('PUT', `/secrets/${both}`, { secrets: [one] });
    const { id } = await service.client.createKey({ body: { name: 'both', kind: 'public' } });
    const seen = async () => [
      (await ask('GET', '/secrets')).text,
      (await ask('GET', `/secrets/${both}/history`)).text,
      (await ask('GET', '/keys')).text.replace(/"lastUsedAt":"[^"]*"/g, ''),
    ];
    await expect.poll(async () => (await ask('GET', `/secrets/${both}`)).json['status']).toBe('ready');
    const before = await seen();
    await db.query(`create or replace function no_room() returns trigger language plpgsql as
      $$ begin raise exception 'no room' using errcode = 'disk_full'; end $$`);
    await db.query('create trigger no_room before insert on audit_events for each row execute function no_room()');
    try {
      const answers = await Promise.all([
        ask('PUT', `/secrets/${both}`, { secrets: [{ ...one, secretKey: 'B' }] }),
        ask('PUT', '/secrets/fresh', { secrets: [one] }),
        ask('PUT', `/secrets/${both}`, { ...one, dryRun: true }),
        ask('DELETE', `/secrets/${both}/A`),
        ask('DELETE', `/secrets/${both}`),
        ask('POST', '/keys', { name: 'more', kind: 'public' }),
        ask('DELETE', `/keys/${id}`),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 507));
      expect((await ask('GET', '/secrets/nothing')).status).toBe(404);
      expect(await seen()).toEqual(before);
    } finally {
      await db.query('drop trigger no_room on audit_events');
      await db.end();
    }
    expect((await ask('PUT', `/secrets/${both}`, { secrets: [{ ...one, secretKey: 'B' }] })).json['revision']).toBe(2);
    expect(await service.client.verifyAudit()).toMatchObject({ ok: true });
  });

  it('can be read only by its own organization, with filters and pages', async () => {
    const paged = createUniqueName('paged');
    const others = await insertSecondOrganization(service, createUniqueName('others'));
    onTestFinished(others.close);
    await ask('PUT', `/secrets/${paged}`, { secrets: [one] }, { key: others.privateKey });
    const theirs = await ask('GET', '/audit', undefined, { key: others.privateKey });
    expect(theirs.json['entries']).toMatchObject([{ action: 'secrets.set', object: paged }, {}, {}]);
    expect(await entries({ object: paged })).toEqual([]);
    const set = createUniqueName('paged');
    await ask('PUT', `/secrets/${set}`, { secrets: [{ ...one, secretKey: 'AUDITED_KEY' }] });
    expect(await entries({ object: 'audited_key' })).toMatchObject([{ object: set, keys: ['AUDITED_KEY'] }]);
    const all = await entries();
    const pages: AuditEntry[] = [];
    for (let cursor: string | undefined; ; ) {
      const query = { order: 'asc', limit: 7, ...(cursor === undefined ? {} : { cursor }) } as const;
      const page = await service.client.listAuditEntries({ query });
      pages.push(...page.entries);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(pages).toEqual(all);
    expect((await ask('GET', '/audit?since=yesterday')).json['issues']).toMatchObject([{ path: 'query.since' }]);
    expect((await ask('GET', '/audit?cursor=x')).json['issues']).toMatchObject([{ path: 'query.cursor' }]);
  });

  it('passes the verification by the service, and has the hashes that docs/operations/vault-and-audit.md describes', async () => {
    const all = await entries();
    const last = all.at(-1);
    let previous = '0'.repeat(64);
    for (const entry of all) {
      const content = [
        previous,
        entry.organizationId,
        entry.sequence,
        entry.at,
        entry.keyId,
        entry.keyName,
        entry.address,
        entry.requestId,
        entry.action,
        entry.object,
        entry.region,
        entry.keys,
        entry.revisionBefore,
        entry.revisionAfter,
        entry.result,
        entry.count,
      ];
      expect(entry.previousHash).toBe(previous);
      previous = createHash('sha256').update(JSON.stringify(content)).digest('hex');
      expect(entry.hash).toBe(previous);
    }
    expect(await service.client.verifyAudit()).toMatchObject({
      ok: true,
      entries: all.length,
      lastSequence: last?.sequence,
      lastHash: last?.hash,
      brokenAt: null,
    });
  });

  it('records dry runs of secret writes, which are rate-limited because they can confirm a guessed secret value', async () => {
    const guessed = createUniqueName('guessed');
    const guess = { secretKey: 'A', secretValue: 'guess', dryRun: true };
    await ask('PUT', `/secrets/${guessed}`, { secrets: [one] });
    // Send most dry runs concurrently. Sequential dry runs could take longer than one second each, and the limit allows one
    // more per second, so they might never reach the limit.
    const together = Array.from({ length: secretWriteDryRunRateLimit.burst - 10 }, () =>
      ask('PUT', `/secrets/${guessed}`, guess),
    );
    const answers = await Promise.all(together);
    for (let number = 0; number < 60 && answers.at(-1)?.status !== 429; number++) {
      answers.push(await ask('PUT', `/secrets/${guessed}`, guess));
    }
    const refused = answers.at(-1);
    expect(refused).toMatchObject({ status: 429, json: { reason: 'too-many-dry-runs', status: 429 } });
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask('PUT', `/secrets/${guessed}`, guess, { key: neighbours.privateKey })).status).toBe(200);
    const real = await ask('PUT', `/secrets/${guessed}`, { secrets: [{ ...one, secretKey: 'B' }] });
    expect(real.status).toBe(202);
    const written = await since();
    expect([written[0]?.result, written.at(-1)?.result]).toEqual(['done', 'done']);
    const results = written.slice(1, -1).map(({ result }) => result);
    expect(results.at(-1)).toBe('too-many-dry-runs');
    const allowed = answers.filter(({ status }) => status === 200);
    expect(results.filter((result) => result !== 'too-many-dry-runs')).toEqual(allowed.map(() => 'dry-run'));
    expect((await ask('PUT', `/secrets/${guessed}`, guess, { key: service.publicKey })).status).toBe(401);
  });

  it('contains no secret value', async () => {
    expect(JSON.stringify(await entries())).not.toContain(canary);
    expect(JSON.stringify(await entries())).not.toContain(btoa(`me:${canary}`));
  });
});
