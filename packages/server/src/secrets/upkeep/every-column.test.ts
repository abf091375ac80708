import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type TestRows, testRows } from '../../store/test-rows.ts';
import { listSecrets } from '../list.ts';
import { openPinned } from '../pin.ts';
import { rollBackSecrets } from '../rollback.ts';
import { getSecretSet, secretHistory } from '../show.ts';
import { pairs, testVault } from '../test-vault.ts';
import { rewrapKeys } from '../vault/rekey.ts';
import { verifyVault } from './verify.ts';

/**
 * Columns that say nothing of a value, of who it belongs to or of what was done with it: who changes one gets nothing by it.
 * What is not named here has to be found by whoever verifies.
 */
const harmless: Readonly<Record<string, string>> = {
  'vault_state.one': 'holds the table to one row',
  'secret_deliveries.state': 'a start opens the values itself, whatever a delivery said',
  'secret_deliveries.attempts': 'when it is tried again',
  'secret_deliveries.error': 'a sentence for people',
  'secret_deliveries.host_id': 'who held it first',
  'secret_deliveries.created_at': 'since when it is pending',
  'secret_deliveries.next_at': 'when it is tried again',
  'secret_deliveries.done_at': 'when it was held',
};
/** Tables of which nothing gives or keeps a value. */
const harmlessTables: Readonly<Record<string, string>> = {
  vault_tasks: 'work that was asked for: how much of it is left is read from what is stored',
  pull_secret_checks: 'what a registry said of credentials, for people',
};
/** Tests of the audit log look after it: it has a row only when entries went by age. */
const elsewhere = ['audit_checkpoints'];

type Column = { readonly table: string; readonly column: string; readonly type: string; readonly nullable: boolean };

const times = (expression: string) => [`${expression} + interval '1 ms'`, `'infinity'`];
/** How a value of each type becomes another one. */
const changes: Readonly<Record<string, (column: string) => readonly string[]>> = {
  uuid: (column) => [`coalesce(overlay(${column}::text placing 'f0' from 1)::uuid, gen_random_uuid())`],
  text: (column) => [`coalesce(${column}, '') || 'x'`, `''`],
  integer: (column) => [`coalesce(${column}, 0) + 1`, `coalesce(${column}, 0) - 1`],
  bigint: (column) => [`${column} + 1`],
  boolean: (column) => [`not ${column}`],
  'timestamp with time zone': (column) => times(`coalesce(${column}, now())`),
  jsonb: (column) => [
    `case when jsonb_array_length(${column}) > 0 then '[]' else '["Z"]' end::jsonb`,
    `'"x"'`,
    `'null'`,
  ],
  bytea: (column) => [
    `set_byte(${column}, 0, get_byte(${column}, 0) # 1)`,
    `set_byte(${column}, length(${column}) / 2, get_byte(${column}, length(${column}) / 2) # 128)`,
    `set_byte(${column}, length(${column}) - 1, get_byte(${column}, length(${column}) - 1) # 1)`,
    `substring(${column} from 1 for length(${column}) - 1)`,
    `''::bytea`,
  ],
  ARRAY: (column) => [`array_append(${column}, 99)`, `${column}[2:]`, `'{}'`],
};

describe('what is stored of secrets, by who can change anything in the database', () => {
  let rows: TestRows;
  let vault: Awaited<ReturnType<typeof testVault>>;
  let home: string;
  let other: string;
  let columns: Column[];
  let asWritten: Awaited<ReturnType<typeof shown>>;
  let sets: { id: string; organization: string; name: string; revision: number }[];

  const run = async <Row>(statement: string) => (await sql.raw<Row>(statement).execute(rows.db)).rows;
  const tables = () => [...new Set(columns.map(({ table }) => table))];

  beforeAll(async () => {
    rows = await testRows();
    vault = await testVault(rows);
    home = await rows.organization('home');
    other = await rows.organization('other');
    await vault.put(home, 'keys', pairs({ A: 'v-one', B: 'v-two' }));
    await vault.put(home, 'keys', pairs({ A: 'v-three' }));
    await rollBackSecrets(vault.context, vault.scopeOf(home), 'keys', { revision: 1 });
    await vault.put(home, 'whole', pairs({ C: 'v-four' }));
    await vault.put(home, 'registry', {
      isImagePullSecret: true,
      host: 'ghcr.io',
      secretValue: Buffer.from('user:password').toString('base64'),
    });
    await vault.put(other, 'keys', pairs({ A: 'v-five' }));
    await vault.deliver();
    sets = await run(`select id, organization_id as organization, name, revision from secret_sets order by name, id`);
    columns = await run<Column>(`select table_name as table, column_name as column, data_type as type,
      is_nullable = 'YES' as nullable from information_schema.columns
      where table_schema = 'public' and table_name ~ '^(vault|secret|pull_secret|audit)_' order by 1, ordinal_position`);
    // Whoever can change a row can also take away what would refuse it.
    for (const { name, table } of await run<{ name: string; table: string }>(
      `select conname as name, conrelid::regclass::text as table from pg_constraint
        where contype in ('f', 'c', 'u', 'p') and conrelid::regclass::text in (${tables().map((one) => `'${one}'`)})
        order by contype`,
    )) {
      await run(`alter table ${table} drop constraint if exists ${name} cascade`);
    }
    await run('drop index secret_sets_one');
    for (const { name, table } of await run<{ name: string; table: string }>(
      `select tgname as name, tgrelid::regclass::text as table from pg_trigger where not tgisinternal
        and tgrelid::regclass::text in (${tables().map((one) => `'${one}'`)})`,
    )) {
      await run(`drop trigger ${name} on ${table}`);
    }
    for (const table of tables()) await run(`create table kept_${table} as select * from ${table}`);
    expect(await look()).toEqual({ ...whole, findings: [] });
    asWritten = await shown();
    expect([asWritten.home.length, asWritten.other.length]).toEqual([7, 3]);
  });
  afterEach(() => restore());
  afterAll(() => rows.close());

  const context = () => ({ ...vault.context, rootKeys: vault.rootKeys, pinsOf: async () => [] });
  const values = async ({ id, organization, name, revision }: (typeof sets)[number], at = revision) => {
    const pin = { secretSet: name, setId: id, revision: at };
    return openPinned(vault.context, organization, [pin]).catch(() => 'nothing');
  };

  /** What everybody gets, and what the operator is told. */
  async function look() {
    const got: Record<string, unknown> = {};
    for (const set of sets) got[`${set.organization === home ? 'home' : 'other'}/${set.name}`] = await values(set);
    return { ...got, findings: await verifyVault(context(), null, async () => undefined) };
  }
  /** What people are shown, each part by itself; how a delivery or a check went is not sealed. */
  async function shownTo(organizationId: string): Promise<unknown[]> {
    const scope = { organizationId };
    const nothing = () => [];
    const list = await listSecrets(vault.context, scope, {}).catch(nothing);
    const details = await getSecretSet(vault.context, scope, 'keys', async () => []).then((one) => [one], nothing);
    const history = await secretHistory(vault.context, scope, 'keys', { limit: 9 }).catch(() => ({ revisions: [] }));
    const parts = [...list.filter(({ damaged }) => damaged !== true), ...details, ...history.revisions];
    const apart = ['status', 'errorMessage', 'verification'];
    return parts.map((part) => Object.entries(part).filter(([name]) => !apart.includes(name)));
  }
  const shown = async () => ({ home: await shownTo(home), other: await shownTo(other) });

  const whole = {
    'home/keys': { A: 'v-one', B: 'v-two' },
    'home/registry': { '.dockerconfigjson': expect.stringContaining('ghcr.io') },
    'home/whole': { C: 'v-four' },
    'other/keys': { A: 'v-five' },
  };

  async function restore() {
    const all = tables().map((table) => `truncate ${table}; insert into ${table} select * from kept_${table};`);
    await run(all.join('\n'));
  }

  /** The rows that belong to the set `keys` of `home`, or to `home`. */
  function own(table: string): string {
    const set = sets.find(({ organization, name }) => organization === home && name === 'keys')?.id;
    const has = (column: string) => columns.some((one) => one.table === table && one.column === column);
    if (table === 'secret_sets') return `id = '${set}'`;
    if (has('set_id')) return `set_id = '${set}'`;
    return has('organization_id') && table !== 'vault_tasks' ? `organization_id = '${home}'` : 'true';
  }

  /** Nobody ever gets something else than what was written, and nobody but whom it concerns is kept from it. */
  async function requireHarm(what: string, table: string, mustBeFound: boolean) {
    const { findings, ...got } = await look();
    for (const [name, right] of Object.entries(whole)) {
      if (got[name as keyof typeof got] === 'nothing') {
        const isConcerned = name === 'home/keys' || (table === 'vault_keys' && name.startsWith('home/'));
        expect({ what, name, isConcerned }).toEqual({ what, name, isConcerned: true });
        expect({ what, count: findings.length }).not.toEqual({ what, count: 0 });
      } else expect({ what, got: got[name as keyof typeof got] }).toEqual({ what, got: right });
    }
    const now = await shown();
    const right = (part: unknown) => JSON.stringify(part);
    for (const of of ['home', 'other'] as const) {
      const known = asWritten[of].map(right);
      expect({ what, of, untrue: now[of].map(right).filter((part) => !known.includes(part)) }).toEqual({
        what,
        of,
        untrue: [],
      });
    }
    expect({ what, isFound: findings.length > 0 || !mustBeFound }).toEqual({ what, isFound: true });
    for (const finding of findings) expect(JSON.stringify(finding)).not.toMatch(/v-|user:/);
  }

  it('has a row in every table, so that every column is tried', async () => {
    const empty = [];
    for (const table of tables()) {
      const [found] = await run<{ count: number }>(`select count(*)::int as count from ${table} where ${own(table)}`);
      if (found?.count === 0) empty.push(table);
    }
    expect(empty.filter((table) => !elsewhere.includes(table) && !(table in harmlessTables))).toEqual([]);
    expect([...new Set(columns.map(({ type }) => type))].filter((type) => changes[type] === undefined)).toEqual([]);
    const names = columns.map(({ table, column }) => `${table}.${column}`);
    expect(Object.keys(harmless).filter((name) => !names.includes(name))).toEqual([]);
    expect(columns.length).toBeGreaterThan(70);
  });

  it.each([
    'vault_state',
    'vault_keys',
    'secret_sets',
    'secret_revisions',
    'secret_values',
    'secret_deliveries',
    'audit_events',
  ])(
    'changed in any column of %s is found, or gives nobody anything',
    async (table) => {
      let tried = 0;
      for (const { column, type, nullable } of columns.filter((one) => one.table === table)) {
        const expressions = [...(changes[type]?.(column) ?? []), ...(nullable ? ['null'] : [])];
        // The same change may be none for one row: it counts where it changes something.
        for (const expression of expressions) {
          const what = `${table}.${column} = ${expression}`;
          const changed =
            await run(`update ${table} set ${column} = ${expression} where ctid = (select ctid from ${table}
            where ${own(table)} and ${column} is distinct from ${expression} order by ctid desc limit 1) returning 1`);
          if (changed.length === 0) continue;
          await requireHarm(what, table, harmless[`${table}.${column}`] === undefined);
          await restore();
          tried += 1;
        }
      }
      expect(tried).toBeGreaterThan(3);
    },
    120_000,
  );

  it.each(['vault_keys', 'secret_sets', 'secret_revisions', 'secret_values', 'secret_deliveries', 'audit_events'])(
    'with two rows of %s swapped, in one column or in all that they hold, is found, or gives nobody anything',
    async (table) => {
      const here = columns.filter((one) => one.table === table).map(({ column }) => column);
      const names: Readonly<Record<string, readonly string[]>> = {
        secret_sets: ['id'],
        secret_values: ['set_id', 'key', 'revision'],
        vault_keys: ['organization_id', 'purpose', 'version'],
        audit_events: ['organization_id', 'sequence'],
      };
      const content = here.filter((column) => !(names[table] ?? ['set_id', 'revision']).includes(column));
      for (const swapped of [...here.map((column) => [column]), content]) {
        const list = swapped.map((column) => `${column} = theirs.${column}`).join(', ');
        const changed =
          await run(`with mine as (select ctid as lies_at, * from ${table} where ${own(table)} order by ctid limit 1),
          others as (select ctid as lies_at, * from ${table} where not ctid = (select lies_at from mine) order by ctid desc limit 1),
          theirs as (select (select lies_at from mine) as place, others.* from others
            union all select (select lies_at from others), mine.* from mine)
          update ${table} set ${list} from theirs where ${table}.ctid = theirs.place
            and (${swapped.map((column) => `${table}.${column}`)}) is distinct from (${swapped.map((column) => `theirs.${column}`)})
          returning 1`);
        if (changed.length === 0) continue;
        await requireSwap(`${table}: ${swapped}`, table === 'secret_deliveries');
        await restore();
      }
    },
    120_000,
  );

  async function requireSwap(what: string, isHarmless: boolean) {
    const { findings, ...got } = await look();
    for (const [name, right] of Object.entries(whole)) {
      const given = got[name as keyof typeof got];
      if (given !== 'nothing') expect({ what, name, given }).toEqual({ what, name, given: right });
    }
    expect({ what, isFound: findings.length > 0 || isHarmless }).toEqual({ what, isFound: true });
  }

  it.each([
    'vault_state',
    'vault_keys',
    'secret_sets',
    'secret_revisions',
    'secret_values',
    'secret_deliveries',
    'audit_events',
  ])(
    'without a row of %s is found',
    async (table) => {
      const places = await run<{ at: string }>(`select ctid::text as at from ${table} where ${own(table)}`);
      for (const { at } of places) {
        await run(`delete from ${table} where ctid = '${at}'`);
        await requireHarm(`${table} without ${at}`, table, true);
        await restore();
      }
    },
    120_000,
  );

  it('with a row more is found', async () => {
    await run(`insert into secret_values select set_id, 'Z', revision, sealed, key_version, fingerprint, fingerprint_version,
      bytes, created_at from secret_values where ${own('secret_values')} limit 1`);
    await requireHarm('a value more', 'secret_values', true);
    await restore();
    await run(`insert into secret_revisions select set_id, revision + 1, action, rolled_back_to, host, entries, added,
      changed, removed, expires_at, created_by_key_id, created_at, stamp from secret_revisions
      where ${own('secret_revisions')} order by revision desc limit 1`);
    await requireHarm('a revision more', 'secret_revisions', true);
    await restore();
  });

  it('with an old state of a set put back is found', async () => {
    const [set] = await run<{ id: string }>(`select id from secret_sets where ${own('secret_sets')}`);
    await vault.put(home, 'keys', pairs({ A: 'newer' }));
    await run(`delete from secret_sets where id = '${set?.id}'`);
    await run(`insert into secret_sets select * from kept_secret_sets where id = '${set?.id}'`);
    expect((await look())['home/keys' as never]).toBe('nothing');
    await run(`delete from secret_revisions where ${own('secret_revisions')} and revision > 3`);
    await run(`delete from secret_values where ${own('secret_values')} and revision > 3`);
    await run(`delete from secret_deliveries where ${own('secret_deliveries')} and revision > 3`);
    const { findings } = await look();
    expect(findings).toEqual([
      { organization: 'home', set: 'keys', problem: 'it is at revision 3, and the audit log says 4' },
    ]);
    await restore();
  });

  it('with the keys or values of before a rotation put back gives what was written', async () => {
    await rewrapKeys(context(), async () => undefined);
    for (const table of ['vault_state', 'vault_keys', 'secret_values']) {
      await run(`truncate ${table}; insert into ${table} select * from kept_${table}`);
    }
    expect(await look()).toEqual({ ...whole, findings: [] });
  });
});
