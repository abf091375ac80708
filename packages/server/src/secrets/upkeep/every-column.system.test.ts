import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type TestRows, testRows } from '../../../test/support/test-rows.ts';
import { pairs, testVault } from '../../../test/support/test-vault.ts';
import { appendAudit } from '../../audit/append.ts';
import type { AuditEvent } from '../../audit/chain.ts';
import { purgeAudit } from '../../audit/retention.ts';
import type { SecretPin } from '../../store/tables.ts';
import { newId } from '../../store/uuid.ts';
import { keepCheck } from '../check-rows.ts';
import { deleteSecretSet } from '../delete.ts';
import { listSecrets } from '../list.ts';
import { openValues } from '../open-set.ts';
import { openForDeployment, pinSecretSet } from '../pin.ts';
import { rollBackSecrets } from '../rollback.ts';
import type { SecretSetRow } from '../rows.ts';
import { getSecretSet, secretHistory } from '../show.ts';
import { stampedCheck } from '../stamped-check.ts';
import { type PinnedDeployment, stampPins } from '../stamped-pins.ts';
import { rewrapKeys } from '../vault/rekey.ts';
import { startVerifying } from './start.ts';
import { vaultStatus } from './status.ts';
import { taskChanged } from './task-proof.ts';
import { listTasks } from './task-rows.ts';
import { verifyVault } from './verify.ts';
import { workOn } from './work.ts';

/**
 * Columns that say nothing of a value, of who it belongs to or of what was done with it: who changes one gets nothing by it.
 * What is not named here has to be found by whoever verifies.
 */
const harmless: Readonly<Record<string, string>> = {
  'vault_state.one': 'holds the table to one row',
  'secret_deliveries.state': 'a start opens the values itself, whatever a delivery said: see the deploy below',
  'pull_secret_checks.set_id': 'of a set that is not there nobody is shown a check',
  'secret_deliveries.attempts': 'when it is tried again',
  'secret_deliveries.error': 'only sentences of the service are shown of it',
  'secret_deliveries.host_id': 'who held it first',
  'secret_deliveries.created_at': 'since when it is pending',
  'secret_deliveries.next_at': 'when it is tried again',
  'secret_deliveries.done_at': 'when it was held',
};
/** Of work on the vault: how far it is, and since when that stands there. */
const progress = ['reached', 'updated_at'];

type Column = { readonly table: string; readonly column: string; readonly type: string; readonly nullable: boolean };

/** Of which `verify` tells what was changed. Of its own work `status` does. */
const foundByVerify = [
  'vault_state',
  'vault_keys',
  'secret_sets',
  'secret_revisions',
  'secret_values',
  'secret_deliveries',
  'secret_pins',
  'deployments',
  'pull_secret_checks',
  'audit_events',
];

const longAgo: AuditEvent = {
  at: new Date('2020-01-01T00:00:00.000Z'),
  actor: { keyId: null },
  action: 'secrets.list',
  object: null,
  region: null,
  keys: [],
  revisionBefore: null,
  revisionAfter: null,
  result: 'not-found',
};

const times = (expression: string) => [`${expression} + interval '1 ms'`, `'infinity'`];
/** How a value of each type becomes another one. */
const changes: Readonly<Record<string, (column: string) => readonly string[]>> = {
  uuid: (column) => [`coalesce(overlay(${column}::text placing 'f0' from 1)::uuid, gen_random_uuid())`],
  // What a deployment is pinned to: another revision, the newest one of another set, two, none, and no list at all.
  json: (column) => [
    `regexp_replace(${column}::text, '"revision":[0-9]+', '"revision":1')::json`,
    `regexp_replace(${column}::text, '"secretSet":"[^"]*"', '"secretSet":"whole"')::json`,
    `json_build_array(json_build_object('secretSet', 'whole', 'setId', (select id from secret_sets where name = 'whole'), 'revision', 1))`,
    `json_build_array(${column}->0, ${column}->0)`,
    `'[]'`,
    `'null'`,
    `'"x"'`,
    `'[{}]'`,
    `'[{"secretSet":"keys","setId":"x","revision":"y"}]'`,
  ],
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
  let deployments: Readonly<Record<string, string>>;

  const run = async <Row>(statement: string) => (await sql.raw<Row>(statement).execute(rows.db)).rows;
  const tables = () => [...new Set(columns.map(({ table }) => table))];

  beforeAll(async () => {
    rows = await testRows();
    vault = await testVault(rows);
    home = await rows.organization('home');
    other = await rows.organization('other');
    // The log of the other one begins with what has gone by its age.
    await rows.db.transaction().execute((db) => appendAudit(db, other, longAgo));
    await purgeAudit(vault.context, 365);
    await vault.put(home, 'keys', pairs({ A: 'v-one', B: 'v-two' }));
    await vault.put(home, 'keys', pairs({ A: 'v-three' }));
    await rollBackSecrets(vault.context, vault.scopeOf(home), 'keys', { revision: 1 });
    await vault.put(home, 'whole', pairs({ C: 'v-four' }));
    // Before the last change of a set: that the log ends one entry earlier is seen where that one names a set.
    await findSomething();
    await vault.put(home, 'registry', {
      isImagePullSecret: true,
      host: 'ghcr.io',
      secretValue: Buffer.from('user:password').toString('base64'),
    });
    await vault.put(other, 'keys', pairs({ A: 'v-five' }));
    await vault.deliver();
    sets = await run(`select id, organization_id as organization, name, revision from secret_sets order by name, id`);
    const idOf = (name: string) => sets.find((set) => set.name === name && set.organization === home)?.id ?? '';
    deployments = {
      'home/keys': await deploy(home, { secretSet: 'keys', setId: idOf('keys'), revision: 3 }),
      'home/former': await deploy(home, { secretSet: 'keys', setId: idOf('keys'), revision: 2 }),
      'home/whole': await deploy(home, { secretSet: 'whole', setId: idOf('whole'), revision: 1 }),
      'other/keys': await deploy(other, {
        secretSet: 'keys',
        setId: sets.find((set) => set.organization === other)?.id ?? '',
        revision: 1,
      }),
    };
    const check = { result: 'rejected', message: 'The registry refused them.', image: null } as const;
    const stamp = await vault.context.keyring.current(rows.db, home, 'stamp');
    await keepCheck(
      rows.db,
      stampedCheck(stamp, { set_id: idOf('registry'), revision: 1, ...check, checked_at: vault.context.now() }),
    );
    columns = await run<Column>(`select table_name as table, column_name as column, data_type as type,
      is_nullable = 'YES' as nullable from information_schema.columns
      where table_schema = 'public' and (table_name ~ '^(vault|secret|pull_secret|audit)_'
        or table_name = 'deployments' and column_name = 'secret_pins') order by 1, ordinal_position`);
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

  const context = () => ({
    ...vault.context,
    rootKeys: vault.rootKeys,
    signal: new AbortController().signal,
    pinsOf: async () => [],
    pinnedIn: async (_: unknown, organizationId: string) =>
      (await pinned()).filter((one) => one.organizationId === organizationId),
  });

  async function deploy(organizationId: string, pin: SecretPin): Promise<string> {
    const agentId = await rows.agent(organizationId, { name: newId() });
    const deploymentId = await rows.deployment(agentId, { secret_pins: JSON.stringify([pin]) });
    await stampPins(vault.context, { deploymentId, organizationId, region: 'us-west', pins: [pin] });
    return deploymentId;
  }

  /** As agents know them. */
  const pinned = () =>
    run<PinnedDeployment>(`select deployments.id as "deploymentId", organization_id as "organizationId", region,
      secret_pins as pins from deployments join agents on agents.id = agent_id where secret_pins::text <> '[]'`);

  /** What an instance of a deployment would be started with. */
  async function values(deploymentId: string) {
    const none = { organizationId: home, region: 'us-west', deploymentId, pins: [] };
    const deployment = (await pinned()).find((one) => one.deploymentId === deploymentId) ?? none;
    return openForDeployment(vault.context, deployment).catch(() => 'nothing');
  }

  /** The credentials of an image pull secret. */
  async function credentials() {
    const [set] = await run<SecretSetRow>(`select * from secret_sets where id =
      '${sets.find(({ name }) => name === 'registry')?.id}' and organization_id = '${home}'`);
    if (set === undefined) return 'nothing';
    return openValues(vault.context, set, 1).then(
      (opened) => Object.fromEntries([...opened].map(([key, value]) => [key, value.toString()])),
      () => 'nothing',
    );
  }

  /** Has the operator look for damage while there is some. */
  async function findSomething() {
    await startVerifying(context(), null);
    await run(`update secret_values set bytes = bytes + 1 where key = 'C'`);
    for (const task of await listTasks(rows.db, 'running')) await workOn(context(), task);
    await run(`update secret_values set bytes = bytes - 1 where key = 'C'`);
  }

  /** What everybody gets, and what the operator is told. */
  async function look() {
    const got: Record<string, unknown> = {};
    for (const [name, id] of Object.entries(deployments)) got[name] = await values(id);
    got['home/registry'] = await credentials();
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
    'home/former': { A: 'v-three', B: 'v-two' },
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
    if (table === 'deployments') return `id = '${deployments['home/former']}'`;
    if (table === 'pull_secret_checks') return 'true';
    if (has('set_id')) return `set_id = '${set}'`;
    return has('organization_id') && table !== 'vault_tasks' ? `organization_id = '${home}'` : 'true';
  }

  /** Whose values may be kept from them by a change in a table. A set stands and falls with its line in the log. */
  function concerned(table: string): string[] {
    if (table === 'deployments') return ['home/former'];
    if (table === 'vault_keys' || table === 'audit_events')
      return Object.keys(whole).filter((one) => /^home/.test(one));
    return ['home/keys', 'home/former'];
  }

  /** Nobody ever gets something else than what was written, and nobody but whom it concerns is kept from it. */
  async function requireHarm(what: string, table: string, mustBeFound: boolean) {
    const { findings, ...got } = await look();
    for (const [name, right] of Object.entries(whole)) {
      if (got[name as keyof typeof got] === 'nothing') {
        const isConcerned = concerned(table).includes(name);
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

  async function closed() {
    const { findings: _, ...got } = await look();
    return Object.keys(got)
      .filter((name) => got[name as keyof typeof got] === 'nothing')
      .map((name) => ({ name }));
  }

  it('has a row in every table, so that every column is tried', async () => {
    const empty = [];
    for (const table of tables()) {
      const [found] = await run<{ count: number }>(`select count(*)::int as count from ${table} where ${own(table)}`);
      if (found?.count === 0) empty.push(table);
    }
    expect(empty).toEqual([]);
    expect([...new Set(columns.map(({ type }) => type))].filter((type) => changes[type] === undefined)).toEqual([]);
    const names = columns.map(({ table, column }) => `${table}.${column}`);
    expect(Object.keys(harmless).filter((name) => !names.includes(name))).toEqual([]);
    expect(columns.length).toBeGreaterThan(85);
    expect(new Set([...foundByVerify, 'vault_tasks'])).toEqual(new Set(tables()));
  });

  it.each(foundByVerify)(
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
            where ${own(table)} and ${column}::text is distinct from (${expression})::text order by ctid desc limit 1) returning 1`);
          if (changed.length === 0) continue;
          await requireHarm(what, table, harmless[`${table}.${column}`] === undefined);
          // What a deployment gets is decided here.
          if (/^(deployments|secret_pins)$/.test(table))
            expect({ what, got: await closed() }).toMatchObject({ got: [{}] });
          await restore();
          tried += 1;
        }
      }
      expect(tried).toBeGreaterThan(2);
    },
    120_000,
  );

  it.each(foundByVerify.filter((table) => !/^(vault_state|deployments|pull_secret_checks)$/.test(table)))(
    'with two rows of %s swapped, in one column or in all that they hold, is found, or gives nobody anything',
    async (table) => {
      const here = columns.filter((one) => one.table === table).map(({ column }) => column);
      const names: Readonly<Record<string, readonly string[]>> = {
        secret_sets: ['id'],
        secret_values: ['set_id', 'key', 'revision'],
        secret_pins: ['deployment_id', 'set_id'],
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

  // A check that is not there was never made, and an agent without its deployment has none.
  it.each(foundByVerify.filter((table) => !/^(deployments|pull_secret_checks)$/.test(table)))(
    'without a row of %s is found',
    async (table) => {
      // Without its oldest entries, the audit log is like one that was cut by its age.
      const only = table === 'audit_events' ? `${own(table)} and sequence > 1` : own(table);
      const places = await run<{ at: string }>(`select ctid::text as at from ${table} where ${only}`);
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
    expect(await look()).toEqual({
      ...whole,
      'home/keys': 'nothing',
      'home/former': 'nothing',
      findings: [{ organization: 'home', set: 'keys', problem: 'it is at revision 3, and the audit log says 4' }],
    });
    await vault.deliver();
    await expect(vault.put(home, 'keys', pairs({ A: 'newest' }))).rejects.toMatchObject({
      reason: 'secret-set-damaged',
    });
    const list = await listSecrets(vault.context, { organizationId: home }, {});
    expect(list.filter(({ damaged }) => damaged === true)).toMatchObject([{ name: 'keys', status: 'failed' }]);
    await restore();
  });

  it('with a set put back that was deleted gives none of it, and is found; one of its name that was made anew goes on', async () => {
    const scope = vault.scopeOf(home);
    const remove = () => deleteSecretSet(vault.context, scope, 'keys', { force: true }, async () => []);
    await remove();
    // The foreign keys that would take them along are gone.
    for (const table of ['secret_revisions', 'secret_values', 'secret_deliveries'])
      await run(`delete from ${table} where ${own(table)}`);
    expect(await closed()).toEqual([{ name: 'home/keys' }, { name: 'home/former' }]);
    for (const table of ['secret_sets', 'secret_revisions', 'secret_values', 'secret_deliveries']) {
      await run(`insert into ${table} select * from kept_${table} where ${own(table)}`);
    }
    expect(await look()).toEqual({
      ...whole,
      'home/keys': 'nothing',
      'home/former': 'nothing',
      findings: [{ organization: 'home', set: 'keys', problem: 'the audit log says that it was deleted' }],
    });
    await remove();
    for (const table of ['secret_revisions', 'secret_values', 'secret_deliveries'])
      await run(`delete from ${table} where ${own(table)}`);
    expect(await vault.put(home, 'keys', pairs({ A: 'anew' }))).toMatchObject({ change: 'created', revision: 1 });
    await vault.deliver();
    const pin = await pinSecretSet(rows.db, { organizationId: home, region: 'us-west' }, 'keys');
    expect(await values(await deploy(home, pin))).toEqual({ A: 'anew' });
    expect((await look()).findings).toEqual([]);
    await restore();
  });

  it('with a delivery that failed called ready lets a deploy begin, of which no instance starts', async () => {
    await run(`update secret_values set bytes = bytes + 1 where ${own('secret_values')}`);
    await run(`update secret_deliveries set state = 'pending', next_at = now() where ${own('secret_deliveries')}`);
    await vault.deliver();
    const pin = () => pinSecretSet(rows.db, { organizationId: home, region: 'us-west' }, 'keys');
    await run(`update secret_deliveries set error = 'Pay me.' where ${own('secret_deliveries')}`);
    await expect(pin()).rejects.toMatchObject({
      reason: 'secret-set-not-ready',
      message: expect.not.stringMatching('Pay'),
    });
    await run(`update secret_deliveries set state = 'ready', error = null where ${own('secret_deliveries')}`);
    expect(await values(await deploy(home, await pin()))).toBe('nothing');
    await restore();
  });

  it('with another sentence for why a delivery failed shows none', async () => {
    await run(`update secret_deliveries set state = 'failed', error = 'Pay me.' where ${own('secret_deliveries')}`);
    const list = await listSecrets(vault.context, { organizationId: home }, {});
    const details = await getSecretSet(vault.context, { organizationId: home }, 'keys', async () => []);
    expect(details).toMatchObject({
      status: 'failed',
      errorMessage: expect.stringContaining('could not be delivered'),
    });
    expect(JSON.stringify([list, details])).not.toContain('Pay');
  });

  it('with a check that no registry made shows none', async () => {
    const shownCheck = async () => {
      const list = await listSecrets(vault.context, { organizationId: home }, { type: 'imagePullSecret' });
      return list.map(({ verification }) => verification);
    };
    expect(await shownCheck()).toMatchObject([{ result: 'rejected' }]);
    for (const change of [`result = 'verified'`, `message = 'Fine.'`, `checked_at = now()`, `stamp = ''`]) {
      await run(`update pull_secret_checks set ${change}`);
      expect({ change, shown: await shownCheck() }).toEqual({ change, shown: [null] });
      await restore();
    }
  });

  it('in any column of the work on the vault never hides what was found', async () => {
    const told = async () => (await vaultStatus(context())).tasks.map(({ findings }) => findings);
    const found = [[{ organization: 'home', set: 'whole', problem: expect.stringContaining('does not open') }]];
    expect(await told()).toEqual(found);
    for (const { column, type, nullable } of columns.filter(({ table }) => table === 'vault_tasks')) {
      for (const expression of [...(changes[type]?.(column) ?? []), ...(nullable ? ['null'] : [])]) {
        const changed = await run(
          `update vault_tasks set ${column} = ${expression} where ${column}::text is distinct from (${expression})::text returning 1`,
        );
        if (changed.length === 0) continue;
        const what = `vault_tasks.${column} = ${expression}`;
        const now = await told().catch(() => 'no answer');
        const isHarmless = progress.includes(column) && now !== 'no answer';
        expect([
          { what, now: isHarmless ? found : [[taskChanged]] },
          { what, now: 'no answer' },
        ]).toContainEqual({ what, now });
        await restore();
      }
    }
  });

  it('in what was asked of the vault has it not done, and told', async () => {
    await startVerifying(context(), null);
    await run(`update vault_tasks set organization_id = '${other}' where state = 'running'`);
    for (const task of await listTasks(rows.db, 'running')) expect(await workOn(context(), task)).toBe(true);
    expect((await vaultStatus(context())).tasks).toMatchObject([{ state: 'done', findings: [taskChanged] }]);
  });

  it('with the keys or values of before a rotation put back gives what was written', async () => {
    await rewrapKeys(context(), async () => undefined);
    for (const table of ['vault_state', 'vault_keys', 'secret_values']) {
      await run(`truncate ${table}; insert into ${table} select * from kept_${table}`);
    }
    expect(await look()).toEqual({ ...whole, findings: [] });
  });
});
