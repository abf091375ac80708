import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault } from '../../test/support/test-vault.ts';
import type { SecretRevisionPin } from '../store/tables.ts';
import { decryptSecretValuesToMask } from './values-to-mask.ts';
import { createKeyring } from './vault/keyring.ts';
import { createLocalRootKeys } from './vault/root-key.ts';

describe('decryptSecretValuesToMask', () => {
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let home: string;
  let pin: SecretRevisionPin;

  const read = (pins: readonly SecretRevisionPin[], organizationId = home) =>
    decryptSecretValuesToMask(vault.context, organizationId, pins);

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows);
    home = await rows.organization('home');
    await vault.put(home, 'keys', createPutSecretsRequest({ A: 'first', B: 'second' }));
    await vault.put(home, 'keys', createPutSecretsRequest({ A: 'changed' }));
    const { id } = await rows.db.selectFrom('secret_sets').select('id').executeTakeFirstOrThrow();
    pin = { secretSet: 'keys', setId: id, revision: 1 };
  });
  afterEach(() => rows.close());

  it('returns the values of the pinned revisions', async () => {
    expect(await read([])).toEqual({ values: [], isComplete: true });
    expect(await read([pin])).toEqual({ values: expect.arrayContaining(['first', 'second']), isComplete: true });
    expect((await read([{ ...pin, revision: 2 }])).values).toEqual(expect.arrayContaining(['changed', 'second']));
  });

  it('omits a value that is damaged or missing', async () => {
    await sql`update secret_values set bytes = 4 where key = 'A'`.execute(rows.db);
    expect(await read([pin])).toEqual({ values: ['second'], isComplete: false });
    await sql`delete from secret_values where key = 'A'`.execute(rows.db);
    expect(await read([pin])).toEqual({ values: ['second'], isComplete: false });
  });

  it('omits the values of a deleted set and of a missing revision', async () => {
    expect(await read([{ ...pin, revision: 7 }, pin])).toMatchObject({ values: { length: 2 }, isComplete: false });
    await sql`delete from secret_sets`.execute(rows.db);
    expect(await read([pin])).toEqual({ values: [], isComplete: false });
  });

  it('returns no values if the root key is missing', async () => {
    const rootKeys = createLocalRootKeys([randomBytes(32)]);
    const keyring = createKeyring({ rootKeys, now: vault.context.now });
    expect(await decryptSecretValuesToMask({ db: rows.db, keyring }, home, [pin])).toEqual({
      values: [],
      isComplete: false,
    });
  });

  it("returns no values of another organization's set", async () => {
    expect(await read([pin], await rows.organization('other'))).toEqual({ values: [], isComplete: false });
  });
});
