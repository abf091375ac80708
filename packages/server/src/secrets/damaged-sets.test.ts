import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault, getApiErrorReason } from '../../test/support/test-vault.ts';
import { deleteSecretSet } from './delete.ts';
import { listSecrets } from './list.ts';
import { rollBackSecrets } from './rollback.ts';
import { getSecretHistory, getSecretSet } from './show.ts';

/** Changes of single columns, each of which damages the newest revision of the set `keys`. */
const changes: readonly (readonly [column: string, table: string, expression: string])[] = [
  ['host', 'secret_revisions', `'ghcr.io'`],
  ['expires_at', 'secret_revisions', `created_at + interval '1 day'`],
  ['expires_at', 'secret_revisions', `'infinity'`],
  ['entries', 'secret_revisions', `'[["A", 1], ["B", 1]]'`],
  ['entries', 'secret_revisions', `'[["A", 2]]'`],
  ['entries', 'secret_revisions', `'null'`],
  ['entries', 'secret_revisions', `'"x"'`],
  ['mac', 'secret_revisions', 'null'],
  ['mac', 'secret_revisions', `''`],
  ['mac', 'secret_revisions', 'set_byte(mac, 0, 1)'],
  ['mac', 'secret_revisions', 'set_byte(mac, 9, get_byte(mac, 9) # 1)'],
  ['name', 'secret_sets', `'renamed'`],
  ['region', 'secret_sets', `'eu'`],
  ['kind', 'secret_sets', `'imagePullSecret'`],
  ['revision', 'secret_sets', '7'],
];

describe('a secret set that was tampered with in the database', () => {
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let home: string;
  let setId: string;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows);
    home = await rows.organization('home');
    await vault.put(home, 'keys', createPutSecretsRequest({ A: 'one', B: 'two' }));
    await vault.put(home, 'keys', createPutSecretsRequest({ A: 'three' }));
    await vault.put(home, 'intact', createPutSecretsRequest({ C: 'four' }));
    setId = await idOf('keys');
  });
  afterEach(() => rows.close());

  const idOf = async (name: string) =>
    (await rows.db.selectFrom('secret_sets').select('id').where('name', '=', name).executeTakeFirstOrThrow()).id;
  const variables = (revision = 2) => vault.variables(home, { secretSet: 'keys', setId, revision });
  const list = (query = {}) => listSecrets(vault.context, { organizationId: home }, query);
  const details = (name: string) => getSecretSet(vault.context, { organizationId: home }, name, async () => []);

  it.each(changes)(
    'cannot be used after column %s of table %s was changed to %s',
    async (column, table, expression) => {
      expect(await variables()).toEqual({ A: 'three', B: 'two' });
      expect(await vault.verify()).toEqual([]);
      const row = table === 'secret_sets' ? `id = '${setId}'` : `set_id = '${setId}' and revision = 2`;
      await sql.raw(`update ${table} set ${column} = ${expression} where ${row}`).execute(rows.db);
      const { name } = await rows.find('secret_sets', setId);

      const isPinUnaffected = table === 'secret_sets' && column === 'revision';
      if (isPinUnaffected) expect(await variables()).toEqual({ A: 'three', B: 'two' });
      else await expect(variables()).rejects.toThrow(/damaged|not stored/);
      expect(await getApiErrorReason(details(name))).toBe('secret-set-damaged');
      expect(await getApiErrorReason(vault.put(home, name, createPutSecretsRequest({ A: 'five' })))).toMatch(
        /^secret-set-(damaged|kind)$/,
      );
      const [damaged] = (await list({ type: 'secret', region: 'us-west' })).filter((one) => one.name === name);
      expect(damaged).toMatchObject({ damaged: true, status: 'failed', keyCount: 0, host: null });
      expect((await vault.verify()).map(({ set }) => set)).toContain(name);

      expect(await details('intact')).toMatchObject({ secrets: [{ fieldName: 'C' }] });
      expect((await list()).find((one) => one.name === 'intact')).not.toHaveProperty('damaged');
      await deleteSecretSet(vault.context, vault.scopeOf(home), name, { force: false }, async () => []);
      expect(await vault.verify()).toEqual([]);
      expect(await vault.put(home, 'keys', createPutSecretsRequest({ A: 'five' }))).toMatchObject({
        change: 'created',
        revision: 1,
      });
    },
  );

  it.each([
    ['the content of another revision', `host = o.host, entries = o.entries, expires_at = o.expires_at, mac = o.mac`],
    ['the MAC of another revision', `mac = o.mac`],
  ])('cannot be used if a revision has %s', async (_, assignments) => {
    await sql
      .raw(`update secret_revisions r set ${assignments} from secret_revisions o
      where r.set_id = '${setId}' and o.set_id = r.set_id and r.revision = 2 and o.revision = 1`)
      .execute(rows.db);
    await expect(variables()).rejects.toThrow('damaged');
    expect(await variables(1)).toEqual({ A: 'one', B: 'two' });
    expect(
      await getApiErrorReason(getSecretHistory(vault.context, { organizationId: home }, 'keys', { limit: 5 })),
    ).toBe('secret-set-damaged');
  });

  it('cannot be rolled back to a damaged revision', async () => {
    await sql`update secret_revisions set entries = '[["A", 2]]' where set_id = ${setId} and revision = 1`.execute(
      rows.db,
    );
    const rollback = rollBackSecrets(vault.context, vault.scopeOf(home), 'keys', { revision: 1 });
    expect(await getApiErrorReason(rollback)).toBe('secret-set-damaged');
    expect(await variables()).toEqual({ A: 'three', B: 'two' });
  });

  it.each([
    ['sealed', 'set_byte(sealed, length(sealed) - 20, get_byte(sealed, length(sealed) - 20) # 1)'],
    ['fingerprint', 'set_byte(fingerprint, 3, get_byte(fingerprint, 3) # 1)'],
    ['fingerprint_version', 'fingerprint_version + 1'],
    ['bytes', 'bytes + 1'],
    ['created_at', `created_at + interval '1 ms'`],
    ['key', `key || 'x'`],
    ['revision', 'revision + 5'],
  ])('cannot be used after column %s of table secret_values was changed', async (column, expression) => {
    await sql
      .raw(`update secret_values set ${column} = ${expression} where set_id = '${setId}' and key = 'A'`)
      .execute(rows.db);
    await expect(variables()).rejects.toThrow('damaged');
    expect((await vault.verify()).map(({ set }) => set)).toContain('keys');
  });

  it('is marked as failed if an old value was copied to a newer revision, and does not block the delivery of other sets', async () => {
    await sql`update secret_values target set sealed = source.sealed, fingerprint = source.fingerprint,
      bytes = source.bytes, created_at = source.created_at from secret_values source
      where target.set_id = ${setId} and source.set_id = target.set_id
      and source.key = 'A' and source.revision = 1 and target.key = 'A' and target.revision = 2`.execute(rows.db);
    await expect(variables()).rejects.toThrow('damaged');
    await vault.deliver();
    const states = (await list()).map(({ name, status }) => [name, status]);
    expect(states).toEqual([
      ['intact', 'ready'],
      ['keys', 'failed'],
    ]);
  });

  it('is listed as damaged if its newest revision is missing', async () => {
    await sql`delete from secret_revisions where set_id = ${setId} and revision = 2`.execute(rows.db);
    expect(await list()).toMatchObject([{ name: 'intact' }, { name: 'keys', damaged: true }]);
    expect(await vault.verify()).toContainEqual(
      expect.objectContaining({ set: 'keys', problem: 'the newest revision, 2, is missing' }),
    );
  });
});
