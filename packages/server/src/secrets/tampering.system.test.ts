import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestRows, testRows } from '../../test/support/test-rows.ts';
import { pairs, testVault } from '../../test/support/test-vault.ts';
import { deleteSecretSet } from './delete.ts';
import { listSecrets } from './list.ts';
import { openPinned } from './pin.ts';
import { getSecretSet, secretHistory } from './show.ts';

/** Of each table the columns, and how each is made another one. What says nothing of content or place is left out. */
const changes: Record<string, Record<string, string>> = {
  secret_values: {
    key: `key || 'x'`,
    revision: 'revision + 5',
    sealed: `set_byte(sealed, length(sealed) - 20, get_byte(sealed, length(sealed) - 20) # 1)`,
    key_version: 'key_version + 1',
    fingerprint: 'set_byte(fingerprint, 3, get_byte(fingerprint, 3) # 1)',
    fingerprint_version: 'fingerprint_version + 1',
    bytes: 'bytes + 1',
    created_at: `created_at + interval '1 ms'`,
  },
  secret_revisions: {
    action: `'rollback'`,
    rolled_back_to: '1',
    host: `'ghcr.io'`,
    entries: `'[["A", 1], ["B", 1]]'`,
    added: `'["Z"]'`,
    changed: `'["Z"]'`,
    removed: `'["Z"]'`,
    expires_at: `created_at + interval '1 day'`,
    created_by_key_id: 'gen_random_uuid()',
    created_at: `created_at + interval '1 ms'`,
    stamp: 'set_byte(stamp, 9, get_byte(stamp, 9) # 1)',
  },
  secret_sets: {
    name: `'others'`,
    region: `'eu'`,
    revision: '1',
    stamp: 'set_byte(stamp, 9, get_byte(stamp, 9) # 1)',
    created_at: `created_at + interval '1 ms'`,
    updated_at: `updated_at + interval '1 ms'`,
  },
  vault_keys: {
    version: 'version + 1',
    root_key_id: `'0000000000000000'`,
    wrapped: 'set_byte(wrapped, 14, get_byte(wrapped, 14) # 1)',
    created_at: `created_at + interval '1 ms'`,
  },
};
const cases = Object.entries(changes).flatMap(([table, columns]) =>
  Object.entries(columns).map(([column, expression]) => [table, column, expression] as const),
);

describe('a set of which somebody changed', () => {
  let rows: TestRows;
  let vault: Awaited<ReturnType<typeof testVault>>;
  let home: string;
  let pins: { secretSet: string; setId: string; revision: number }[];

  beforeEach(async () => {
    rows = await testRows();
    vault = await testVault(rows);
    home = await rows.organization('home');
    await vault.put(home, 'keys', pairs({ A: 'one', B: 'two' }));
    await vault.put(home, 'keys', pairs({ A: 'three' }));
    await vault.put(home, 'whole', pairs({ C: 'four' }));
    const { rows: found } = await sql<{ id: string }>`select id from secret_sets where name = 'keys'`.execute(rows.db);
    pins = [{ secretSet: 'keys', setId: found[0]?.id ?? '', revision: 2 }];
  });
  afterEach(() => rows.close());

  it.each(cases)('%s.%s gives nothing', async (table, column, expression) => {
    expect(await openPinned(vault.context, home, pins)).toEqual({ A: 'three', B: 'two' });
    const own = { secret_sets: `where name = 'keys'`, vault_keys: '' }[table] ?? `where set_id = '${pins[0]?.setId}'`;
    await sql.raw(`update ${table} set ${column} = ${expression} ${own}`).execute(rows.db);
    await expect(openPinned(vault.context, home, pins)).rejects.toThrow();
  });

  /** What people are shown of the sets, each part by itself, with what it was refused for. */
  async function shown() {
    const scope = { organizationId: home };
    const refusal = (error: { reason?: string; name: string }) => ({ refused: error.reason ?? error.name });
    const look = async (name: string) => ({
      details: await getSecretSet(vault.context, scope, name, async () => []).catch(refusal),
      history: await secretHistory(vault.context, scope, name, { limit: 20 }).catch(refusal),
    });
    const list = await listSecrets(vault.context, scope, { type: 'secret', region: 'us-west' }).catch(refusal);
    return { list, keys: await look('keys'), others: await look('others'), whole: await look('whole') };
  }
  const refusals = ['secret-set-damaged', 'secret-set-not-found', 'RootKeyMissing'].map((refused) => ({ refused }));

  it.each(cases)(
    '%s.%s is shown as damaged, and nothing that is not so is shown',
    async (table, column, expression) => {
      const before = await shown();
      const own = { secret_sets: `where name = 'keys'`, vault_keys: '' }[table] ?? `where set_id = '${pins[0]?.setId}'`;
      await sql.raw(`update ${table} set ${column} = ${expression} ${own}`).execute(rows.db);
      const after = await shown();
      for (const name of ['keys', 'others', 'whole'] as const) {
        for (const part of ['details', 'history'] as const) {
          expect([before[name][part], ...refusals]).toContainEqual(after[name][part]);
        }
        if (table !== 'vault_keys') expect(after.whole).toEqual(before.whole);
      }
      expect([after.keys.details, after.keys.history]).not.toEqual([before.keys.details, before.keys.history]);
      if (!Array.isArray(after.list) || !Array.isArray(before.list)) return expect(after.list).toEqual(refusals[2]);
      expect(after.list).toHaveLength(2);
      for (const item of after.list) {
        const isDamaged = item.damaged === true;
        if (isDamaged) expect(item).toMatchObject({ status: 'failed', errorMessage: expect.any(String), keyCount: 0 });
        else expect(before.list).toContainEqual(item);
        if (item.name === 'whole' && table !== 'vault_keys') expect(isDamaged).toBe(false);
        // The list shows nothing of values, and of revisions nothing but the newest one.
        if (item.name !== 'whole' && table === 'secret_sets') expect(isDamaged).toBe(true);
        if (item.name === 'keys' && table === 'secret_revisions') expect(isDamaged).toBe(true);
      }
      return undefined;
    },
  );

  it('whose newest revision was taken away is still there to be deleted', async () => {
    await sql.raw(`delete from secret_revisions where revision = 2`).execute(rows.db);
    const { list } = await shown();
    expect(list).toMatchObject([{ name: 'keys', damaged: true }, { name: 'whole' }]);
    await deleteSecretSet(vault.context, vault.scopeOf(home), 'keys', { force: false }, async () => []);
    expect((await shown()).list).toMatchObject([{ name: 'whole' }]);
  });

  it('the revision to that of none is neither written anew nor lost, and can be deleted', async () => {
    await sql.raw(`update secret_sets set revision = 0 where name = 'keys'`).execute(rows.db);
    expect((await shown()).list).toMatchObject([{ name: 'keys', damaged: true }, { name: 'whole' }]);
    for (const body of [pairs({ A: 'five' }), { ...pairs({ A: 'five' }), expectedRevision: 0 }]) {
      await expect(vault.put(home, 'keys', body)).rejects.toMatchObject({ reason: 'secret-set-damaged' });
    }
    await deleteSecretSet(vault.context, vault.scopeOf(home), 'keys', { force: false }, async () => []);
    expect(await vault.put(home, 'keys', pairs({ A: 'five' }))).toMatchObject({ change: 'created', revision: 1 });
  });

  it('two values, of an old revision or of another key, gives nothing, and other sets go on', async () => {
    const swap = (from: string, to: string) =>
      sql
        .raw(`update secret_values target
      set sealed = source.sealed, fingerprint = source.fingerprint, bytes = source.bytes, created_at = source.created_at
      from secret_values source where target.set_id = '${pins[0]?.setId}' and source.set_id = target.set_id
      and (source.key, source.revision) = ${from} and (target.key, target.revision) = ${to}`)
        .execute(rows.db);
    await swap(`('A', 1)`, `('A', 2)`);
    await expect(openPinned(vault.context, home, pins)).rejects.toThrow('damaged');
    await vault.deliver();
    const { rows: states } = await sql`select name, state from secret_sets join secret_deliveries on set_id = id
      and secret_deliveries.revision = secret_sets.revision order by name`.execute(rows.db);
    expect(states).toEqual([
      { name: 'keys', state: 'failed' },
      { name: 'whole', state: 'ready' },
    ]);
    await expect(vault.put(home, 'keys', pairs({ A: 'five' }))).rejects.toMatchObject({ reason: 'secret-set-damaged' });
  });
});
