import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabaseRows, type TestDatabaseRows } from '../../test/support/test-rows.ts';
import { createPutSecretsRequest, createTestVault } from '../../test/support/test-vault.ts';
import { listSecrets } from './list.ts';
import { runTask } from './maintenance/run-task.ts';
import { rotateOrganizationKeys } from './maintenance/start.ts';
import { listTasks } from './maintenance/task-rows.ts';
import { getSecretSet } from './show.ts';
import { openVault } from './vault/open-vault.ts';

/**
 * The tables of secret sets. A table with foreign keys comes after the tables that they refer to, so that rows can be
 * inserted in this order.
 */
const setTables = ['secret_sets', 'secret_revisions', 'secret_values', 'secret_deliveries', 'pull_secret_checks'];
const vaultTables = ['vault_state', 'vault_keys', 'vault_tasks'];

describe('restoring an older backup of secrets', () => {
  const rootKey = Buffer.alloc(32, 7);
  let rows: TestDatabaseRows;
  let vault: Awaited<ReturnType<typeof createTestVault>>;
  let home: string;

  beforeEach(async () => {
    rows = await createTestDatabaseRows();
    vault = await createTestVault(rows, [rootKey]);
    home = await rows.organization('home');
    await vault.put(home, 'keys', createPutSecretsRequest({ A: 'old', B: 'both' }));
    await vault.put(home, 'other', createPutSecretsRequest({ C: 'old' }));
    await vault.deliver();
    for (const table of [...vaultTables, ...setTables]) {
      await sql.raw(`create table backup_${table} as select * from ${table}`).execute(rows.db);
    }
    // Changes after the backup: writes, audit entries, a deletion and a rotation of keys.
    await vault.put(home, 'keys', createPutSecretsRequest({ A: 'new' }));
    await vault.put(home, 'keys', { remove: ['B'] });
    await vault.put(home, 'other', createPutSecretsRequest({ C: 'new' }));
    await vault.put(home, 'later', createPutSecretsRequest({ D: 'new' }));
    const task = { ...vault.context, rootKeys: vault.rootKeys, pinsOf: async () => [] };
    await rotateOrganizationKeys(task, null, { isDryRun: false });
    const signal = new AbortController().signal;
    for (const row of await listTasks(rows.db, 'running')) await runTask({ ...task, signal }, row);
  });
  afterEach(() => rows.close());

  const variables = async (name: string, revision: number) => {
    const { id } = await rows.db
      .selectFrom('secret_sets')
      .select('id')
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    return vault.variables(home, { secretSet: name, setId: id, revision });
  };
  const damagedSets = async () =>
    (await listSecrets(vault.context, { organizationId: home }, {})).filter(({ damaged }) => damaged);
  async function restart() {
    await openVault({ db: rows.db, now: vault.context.now, isAlone: true }, { keys: [rootKey] });
  }

  it('leaves every secret readable if only the tables of secrets are restored', async () => {
    const tables = [...vaultTables, ...setTables];
    for (const table of tables.toReversed()) await sql.raw(`delete from ${table}`).execute(rows.db);
    for (const table of tables) await sql.raw(`insert into ${table} select * from backup_${table}`).execute(rows.db);
    await restart();
    expect(await variables('keys', 1)).toEqual({ A: 'old', B: 'both' });
    expect(await variables('other', 1)).toEqual({ C: 'old' });
    expect(await damagedSets()).toEqual([]);
    expect(await vault.verify()).toEqual([]);
    expect(await vault.put(home, 'keys', createPutSecretsRequest({ A: 'newer' }))).toMatchObject({
      change: 'updated',
      revision: 2,
    });
    expect(await variables('keys', 2)).toEqual({ A: 'newer', B: 'both' });
  });

  it('leaves every secret readable if only one secret set is restored from the backup', async () => {
    await sql`delete from secret_sets where name = 'keys'`.execute(rows.db);
    for (const table of setTables) {
      const own = table === 'secret_sets' ? 'id' : 'set_id';
      const ids = `select id from backup_secret_sets where name = 'keys'`;
      await sql.raw(`insert into ${table} select * from backup_${table} where ${own} in (${ids})`).execute(rows.db);
    }
    await restart();
    expect(await variables('keys', 1)).toEqual({ A: 'old', B: 'both' });
    expect(await variables('other', 2)).toEqual({ C: 'new' });
    expect(await variables('later', 1)).toEqual({ D: 'new' });
    expect(await damagedSets()).toEqual([]);
    expect(await vault.verify()).toEqual([]);
    const shown = await getSecretSet(vault.context, { organizationId: home }, 'keys', async () => []);
    expect(shown).toMatchObject({ status: 'ready', revision: 1 });
    await expect(variables('keys', 3)).rejects.toThrow('Deploy the agent again');
    expect(await vault.put(home, 'keys', createPutSecretsRequest({ A: 'newer' }))).toMatchObject({
      change: 'updated',
      revision: 2,
    });
  });

  it('leaves every secret readable if the audit log is empty after the restore', async () => {
    await sql`alter table audit_events disable trigger user`.execute(rows.db);
    await sql`delete from audit_events`.execute(rows.db);
    await restart();
    expect(await variables('keys', 2)).toEqual({ A: 'new', B: 'both' });
    expect(await damagedSets()).toEqual([]);
    expect(await vault.verify()).toEqual([]);
  });
});
