import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault } from '../../../test/support/test-vault.ts';
import { deleteSecretSet } from '../delete.ts';

describe('lost organization keys', () => {
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let home: string;
  let other: string;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows);
    home = await rows.organization('home');
    other = await rows.organization('other');
    await vault.put(home, 'keys', createPutSecretsRequest({ A: 'one' }));
    await vault.put(other, 'keys', createPutSecretsRequest({ B: 'two' }));
  });
  afterEach(() => rows.close());

  const unchanged = { change: 'none' };
  const versions = async (purpose: string) => {
    const found = await sql<{ version: number }>`select version from vault_keys
      where organization_id = ${home} and purpose = ${purpose} order by version`.execute(rows.db);
    return found.rows.map(({ version }) => version);
  };
  /** Deletes keys, like an incomplete restore. Returns a function that restores them. */
  const lose = async (which: string) => {
    await sql.raw(`create table lost as select * from vault_keys where ${which}`).execute(rows.db);
    await sql.raw(`delete from vault_keys where ${which}`).execute(rows.db);
    return () => sql`insert into vault_keys select * from lost`.execute(rows.db);
  };

  it.each(['value', 'fingerprint', 'stamp'])(
    'make writes fail in their organization, but not in others, until the lost %s key is restored',
    async (purpose) => {
      const restore = await lose(`organization_id = '${home}' and purpose = '${purpose}'`);
      for (const name of ['keys', 'new']) {
        await expect(vault.put(home, name, createPutSecretsRequest({ A: 'three' }))).rejects.toMatchObject({
          reason: 'secret-set-damaged',
          message: expect.stringContaining('keys of this organization are lost'),
        });
      }
      expect(await versions(purpose)).toEqual([]);
      expect(await vault.context.keyring.rotate(rows.db, home)).toBe(2);
      expect(await versions(purpose)).toEqual([]);
      await vault.put(other, 'new', createPutSecretsRequest({ C: 'three' }));
      await restore();
      expect(await vault.put(home, 'keys', createPutSecretsRequest({ A: 'one' }))).toMatchObject(unchanged);
    },
  );

  it('are replaced after all sets of the organization were deleted', async () => {
    await lose(`organization_id = '${home}'`);
    await deleteSecretSet(vault.context, vault.scopeOf(home), 'keys', { force: false }, async () => []);
    expect(await vault.put(home, 'keys', createPutSecretsRequest({ A: 'three' }))).toMatchObject({
      change: 'created',
      revision: 1,
    });
    expect(await vault.put(home, 'keys', createPutSecretsRequest({ A: 'three' }))).toMatchObject(unchanged);
  });

  it('keep their version number reserved while a stored value is encrypted with them', async () => {
    await vault.context.keyring.rotate(rows.db, home);
    await vault.put(home, 'keys', createPutSecretsRequest({ A: 'three' }));
    const restore = await lose(`organization_id = '${home}' and version = 2`);
    await vault.context.keyring.rotate(rows.db, home);
    for (const purpose of ['value', 'fingerprint', 'stamp']) expect(await versions(purpose)).toEqual([1, 3]);
    await restore();
    expect(await vault.put(home, 'keys', createPutSecretsRequest({ A: 'three' }))).toMatchObject(unchanged);
  });
});
