import fc from 'fast-check';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault, getApiErrorReason } from '../../test/support/test-vault.ts';
import { deleteSecretSet } from './delete.ts';
import { listSecrets } from './list.ts';
import { pinSecretSetRevision, SecretsUnavailableError } from './pin.ts';
import { rollBackSecrets } from './rollback.ts';
import { getSecretHistory, getSecretSet } from './show.ts';

const encoded = (text: string) => Buffer.from(text).toString('base64');

describe('secret sets', () => {
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let home: string;
  let other: string;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows);
    home = await rows.organization('home');
    other = await rows.organization('other');
  });
  afterEach(() => rows.close());

  const put = (values: Record<string, string>, more: object = {}, name = 'keys') =>
    vault.put(home, name, { ...createPutSecretsRequest(values), ...more });
  const pin = (name = 'keys', region = 'us-west', organizationId = home) =>
    rows.db.transaction().execute((db) => pinSecretSetRevision(db, { organizationId, region }, name));
  const values = async (name = 'keys') => vault.variables(home, await pin(name));
  const show = (name = 'keys', organizationId = home) =>
    getSecretSet(vault.context, { organizationId }, name, async () => []);
  const history = async () =>
    (await getSecretHistory(vault.context, { organizationId: home }, 'keys', { limit: 20 })).revisions;
  const remove = (
    name: string,
    force = false,
    usedBy: string[] = [],
    organizationId = home,
    expectedRevision?: number,
  ) =>
    deleteSecretSet(
      vault.context,
      vault.scopeOf(organizationId),
      name,
      { force, expectedRevision },
      async () => usedBy,
    );
  const back = (revision: number, more = {}) =>
    rollBackSecrets(vault.context, vault.scopeOf(home), 'keys', { revision, ...more });

  describe('writeSecrets', () => {
    it('stores all keys as one revision, which is pending until it is delivered', async () => {
      expect(await put({ A: '1', B: 'two words' })).toMatchObject({
        change: 'created',
        revision: 1,
        previousRevision: null,
        readiness: 'pending',
        region: 'us-west',
        changes: [
          { key: 'A', change: 'new', bytes: 1 },
          { key: 'B', change: 'new', bytes: 9 },
        ],
      });
      expect(await getApiErrorReason(pin())).toBe('secret-set-not-ready');
      await vault.deliver();
      expect(await values()).toEqual({ A: '1', B: 'two words' });
    });

    it('merges the keys of a request into the set and stores only changed values', async () => {
      await put({ A: '1', B: '2', C: '3' });
      const answer = await put({ B: 'two', C: '3', D: '4' });
      expect(answer.changes.map(({ key, change }) => `${key} ${change}`)).toEqual([
        'B changed',
        'C unchanged',
        'D new',
      ]);
      await vault.deliver();
      expect(await values()).toEqual({ A: '1', B: 'two', C: '3', D: '4' });
      expect((await show()).secrets.map(({ fieldName, revision }) => [fieldName, revision])).toEqual([
        ['A', 1],
        ['B', 2],
        ['C', 1],
        ['D', 2],
      ]);
    });

    it('stores no revision if nothing changes', async () => {
      await put({ A: '1' });
      await vault.deliver();
      expect(await put({ A: '1' })).toMatchObject({ change: 'none', revision: 1, readiness: 'ready' });
      expect(await history()).toHaveLength(1);
    });

    it('removes keys that a request with mode replace does not name', async () => {
      await put({ A: '1', B: '2' });
      await put({ B: '2', C: '3' }, { mode: 'replace' });
      await vault.deliver();
      expect(await values()).toEqual({ B: '2', C: '3' });
      expect(await history()).toMatchObject([{ action: 'replace', added: ['C'], removed: ['A'], changed: [] }, {}]);
    });

    it('removes the keys that a request lists, even the last key of the set', async () => {
      await put({ A: '1', B: '2' });
      await vault.put(home, 'keys', { remove: ['A'] });
      await vault.put(home, 'keys', { remove: ['B'] });
      expect((await show()).secrets).toEqual([]);
      expect(await getApiErrorReason(vault.put(home, 'keys', { remove: ['A'] }))).toBe('secret-not-found');
      expect(await getApiErrorReason(vault.put(home, 'none', { remove: ['A'] }))).toBe('secret-set-not-found');
    });

    it('refuses a write if the revision is not the expected one', async () => {
      expect(await getApiErrorReason(put({ A: '1' }, { expectedRevision: 3 }))).toBe('secret-set-changed');
      await put({ A: '1' }, { expectedRevision: 0 });
      const again = put({ A: '2' }, { expectedRevision: 0 });
      await expect(again).rejects.toThrow('The secret set exists already, at revision 1.');
      expect(await getApiErrorReason(again)).toBe('secret-set-changed');
      expect(await put({ A: '2' }, { expectedRevision: 1 })).toMatchObject({ revision: 2 });
    });

    it('stores nothing in a dry run, and returns the same changes as the write', async () => {
      expect(await put({ A: '1' }, { dryRun: true })).toMatchObject({
        change: 'created',
        dryRun: true,
        revision: null,
      });
      expect(await listSecrets(vault.context, { organizationId: home }, {})).toEqual([]);
      await put({ A: '1' });
      const dry = await put({ A: '2', B: '3' }, { dryRun: true });
      expect(dry).toMatchObject({ dryRun: true, revision: 1, changes: [{ change: 'changed' }, { change: 'new' }] });
      const done = await put({ A: '2', B: '3' });
      expect(dry.changes).toEqual(done.changes);
      expect(await history()).toHaveLength(2);
    });

    it('ignores the case of set names, and refuses to change the region or kind of a set', async () => {
      await put({ A: '1' });
      expect(await put({ A: '2' }, {}, 'KEYS')).toMatchObject({ name: 'keys', revision: 2 });
      expect(await getApiErrorReason(put({ A: '2' }, { region: 'eu' }))).toBe('secret-set-region');
      expect(await getApiErrorReason(put({ A: '2' }, { region: 'mars' }))).toBe('region-unknown');
      expect(await getApiErrorReason(put({ A: '2' }, { region: 'mars' }, 'new'))).toBe('region-unknown');
      const pull = { isImagePullSecret: true, host: 'ghcr.io', secretValue: encoded('me:pass:word') };
      expect(await getApiErrorReason(vault.put(home, 'keys', pull))).toBe('secret-set-kind');
    });

    it('refuses a set that is too large, and names the limit', async () => {
      await put({ A: 'x'.repeat(60_000) });
      const many = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`B${n}`, 'x'.repeat(60_000)]));
      await expect(put(many)).rejects.toMatchObject({
        reason: 'secret-set-too-large',
        message: expect.stringContaining('540017 bytes; the limit is 524288'),
      });
      const more = Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`C${n}`, 'x']));
      await expect(put(more)).rejects.toThrow('257 keys; the limit is 256');
      expect(await history()).toHaveLength(1);
    });

    it('stores arbitrary keys and values unchanged', async () => {
      const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_-]{0,20}$/);
      const value = fc
        .string({ unit: 'binary', minLength: 1, maxLength: 60 })
        .map((text) => text.replace(/[\0\p{Cs}]/gu, '?'));
      await fc.assert(
        fc.asyncProperty(fc.dictionary(key, value, { minKeys: 1, maxKeys: 20 }), async (set) => {
          await put(set, { mode: 'replace' });
          await vault.deliver();
          expect(await values()).toEqual(set);
        }),
        { numRuns: 25 },
      );
      const odd = Object.fromEntries([
        ['__proto__', 'p'],
        ['constructor', 'c'],
      ]);
      await put(odd, { mode: 'replace' });
      await vault.deliver();
      expect(Object.entries(await values())).toEqual([
        ['__proto__', 'p'],
        ['constructor', 'c'],
      ]);
    });
  });

  describe('rollBackSecrets', () => {
    it('creates a new revision with the content of an earlier one', async () => {
      await put({ A: '1', B: '2' });
      await put({ A: 'x', C: '3' });
      expect(await back(1, { dryRun: true })).toMatchObject({ dryRun: true, revision: 2 });
      expect(await back(1)).toMatchObject({
        revision: 3,
        readiness: 'pending',
        changes: [
          { key: 'A', change: 'changed' },
          { key: 'C', change: 'removed' },
        ],
      });
      await vault.deliver();
      expect(await values()).toEqual({ A: '1', B: '2' });
      expect((await history())[0]).toMatchObject({ action: 'rollback', rolledBackTo: 1, current: true });
      expect(await back(1)).toMatchObject({ change: 'none', revision: 3 });
      expect(await getApiErrorReason(back(9))).toBe('secret-revision-not-found');
    });
  });

  describe('deliverSecrets', () => {
    it('leaves a newer revision pending when an old one is delivered late', async () => {
      await put({ A: '1' });
      await put({ A: '2' });
      await sql`update secret_deliveries set next_at = next_at + interval '1 s' where revision = 2`.execute(rows.db);
      await vault.deliver();
      expect((await history()).map(({ status }) => status)).toEqual(['pending', 'ready']);
      expect((await show()).status).toBe('pending');
      expect(await getApiErrorReason(pin())).toBe('secret-set-not-ready');
    });

    it('delivers a set only to its region, and refuses its use by a deployment in another region', async () => {
      await put({ A: '1' }, { region: 'eu' });
      expect(await vault.deliver()).toBe(0);
      expect(await getApiErrorReason(pin())).toBe('secret-set-elsewhere');
      expect(await getApiErrorReason(pin('none'))).toBe('secret-set-not-found');
    });

    it('keeps the values of a pinned revision available after later writes', async () => {
      await put({ A: '1' });
      await vault.deliver();
      const pinned = await pin();
      await put({ A: '2' });
      await vault.deliver();
      expect(await vault.variables(home, pinned)).toEqual({ A: '1' });
      await remove('keys');
      await put({ A: '3' });
      await expect(vault.variables(home, pinned)).rejects.toThrow(SecretsUnavailableError);
    });
  });

  it('are deleted with all revisions, but only with force while agents use them', async () => {
    await put({ A: '1' });
    await expect(remove('keys', false, ['parrot'])).rejects.toThrow('used by parrot');
    await put({ A: '2' });
    for (const force of [false, true]) {
      await expect(remove('keys', force, [], home, 1)).rejects.toThrow('at revision 2, but revision 1 was expected');
      expect(await getApiErrorReason(remove('keys', force, [], home, 0))).toBe('secret-set-changed');
    }
    expect(await getApiErrorReason(remove('nothing', true, [], home, 2))).toBe('secret-set-not-found');
    expect(await remove('keys', false, [], home, 2)).toMatchObject({ status: 'OK' });
    await put({ A: '1' });
    expect(await remove('keys', true, ['parrot'])).toMatchObject({ status: 'OK', agents: ['parrot'] });
    const left = await sql`select set_id from secret_values union select set_id from secret_revisions
      union select set_id from secret_deliveries`.execute(rows.db);
    expect(left.rows).toEqual([]);
    expect(await getApiErrorReason(remove('keys'))).toBe('secret-set-not-found');
  });

  it('store image pull credentials under the canonical name of their registry', async () => {
    const pull = (host: string, text: string) =>
      vault.put(home, 'hub', { isImagePullSecret: true, host, secretValue: encoded(text) });
    await pull('https://index.docker.io/v1/', 'me:a:b');
    expect(await listSecrets(vault.context, { organizationId: home }, {})).toMatchObject([
      { name: 'hub', type: 'imagePullSecret', host: 'https://index.docker.io/v1/', keyCount: 1, status: 'pending' },
    ]);
    expect(await pull('docker.io', 'me:a:b')).toMatchObject({ change: 'none' });
    expect(await pull('ghcr.io', 'me:a:b')).toMatchObject({ change: 'updated', revision: 2 });
    expect(await getApiErrorReason(show('hub'))).toBe('secret-set-has-no-keys');
    expect(await getApiErrorReason(vault.put(home, 'hub', { remove: ['A'] }))).toBe('secret-not-found');
    expect(await getApiErrorReason(pin('hub'))).toBe('secret-set-kind');
    for (const text of ['nocolon', ':x', ''])
      expect(await getApiErrorReason(pull('ghcr.io', text))).toBe('invalid-request');
    expect(await listSecrets(vault.context, { organizationId: home }, { type: 'secret' })).toEqual([]);
  });

  it('are indistinguishable from missing sets for other organizations', async () => {
    await put({ A: '1' });
    await vault.deliver();
    const answers = async (name: string) => {
      const ask = [
        show(name, other),
        getSecretHistory(vault.context, { organizationId: other }, name, { limit: 5 }),
        vault.put(other, name, { remove: ['A'] }),
        vault.put(other, name, { ...createPutSecretsRequest({ A: '2' }), expectedRevision: 1 }),
        rollBackSecrets(vault.context, vault.scopeOf(other), name, { revision: 1 }),
        remove(name, false, [], other),
        pin(name, 'us-west', other),
        vault
          .put(other, name, { ...createPutSecretsRequest({ A: '1' }), dryRun: true })
          .then(({ changes, ...rest }) => {
            throw new Error(JSON.stringify({ ...rest, name: '', changes: changes.map(({ change }) => change) }));
          }),
      ];
      const errors = await Promise.allSettled(ask);
      const seen = errors.map((one) =>
        one.status === 'rejected' ? { ...one.reason, message: one.reason.message } : one,
      );
      return JSON.stringify(seen).replaceAll(/keys|none/g, 'NAME');
    };
    expect(await answers('keys')).toEqual(await answers('none'));
    const { setId } = await pin();
    await expect(vault.variables(other, { secretSet: 'keys', setId, revision: 1 })).rejects.toThrow();
    expect(await listSecrets(vault.context, { organizationId: other }, {})).toEqual([]);
    expect(await vault.put(other, 'keys', createPutSecretsRequest({ A: 'theirs' }))).toMatchObject({
      change: 'created',
    });
  });
});
