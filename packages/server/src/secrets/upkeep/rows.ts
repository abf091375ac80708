import { type Insertable, type Selectable, sql } from 'kysely';
import type {
  Database,
  SecretRevisionsTable,
  SecretSetsTable,
  SecretValuesTable,
  VaultStateTable,
} from '../../store/tables.ts';
import type { PinRow } from '../pin-rows.ts';
import { isKeyNamed } from '../vault/sealed-with.ts';

type SetRow = Selectable<SecretSetsTable>;
type ValueRow = Selectable<SecretValuesTable>;

/** Of each organization that has keys the version that seals now, by purpose. */
const newest = sql`select organization_id,
  max(version) filter (where purpose = 'value') as value,
  max(version) filter (where purpose = 'fingerprint') as fingerprint,
  max(version) filter (where purpose = 'stamp') as stamp
  from vault_keys group by organization_id`;
/** What the sealed bytes say counts, too: a column may have been changed. */
const isValueBehind = sql<boolean>`(v.key_version <> n.value or v.fingerprint_version <> n.fingerprint
  or substring(v.sealed from 3 for 4) <> int4send(n.value))`;
const isStampBehind = sql<boolean>`(substring(s.stamp from 1 for 4) <> int4send(n.stamp) or exists (
  select from secret_revisions r where r.set_id = s.id and substring(r.stamp from 1 for 4) <> int4send(n.stamp))
  or exists (select from pull_secret_checks c
    where c.set_id = s.id and substring(c.stamp from 1 for 4) <> int4send(n.stamp)))`;
const isPinBehind = sql<boolean>`substring(p.stamp from 1 for 4) <> int4send(n.stamp)`;

type PinName = Pick<PinRow, 'deployment_id' | 'set_id'>;
export type ValueName = Pick<ValueRow, 'set_id' | 'key' | 'revision'>;

/** Values that a former key of their organization seals, in order from `after` on, locked; those of others are left out. */
export async function lockValuesBehind(db: Database, after: ValueName | null, limit: number): Promise<ValueRow[]> {
  const beyond =
    after === null
      ? sql`true`
      : sql`(v.set_id, v.key, v.revision) > (${after.set_id}::uuid, ${after.key}, ${after.revision}::integer)`;
  const { rows } = await sql<ValueRow>`with n as (${newest})
    select v.* from secret_values v join secret_sets s on s.id = v.set_id join n on n.organization_id = s.organization_id
    where ${isValueBehind} and ${beyond} order by v.set_id, v.key, v.revision limit ${limit}
    for no key update of v skip locked`.execute(db);
  return rows;
}

/** Sets whose row, or one of whose revisions, a former key of their organization stamps, as `lockValuesBehind`. */
export async function lockStampsBehind(db: Database, after: string | null, limit: number): Promise<SetRow[]> {
  const beyond = after === null ? sql`true` : sql`s.id > ${after}::uuid`;
  const { rows } = await sql<SetRow>`with n as (${newest})
    select s.* from secret_sets s join n on n.organization_id = s.organization_id
    where ${isStampBehind} and ${beyond} order by s.id limit ${limit} for update of s skip locked`.execute(db);
  return rows;
}

/** Pins of deployments that a former key of their organization stamps, as `lockValuesBehind`. */
export async function lockPinsBehind(db: Database, after: PinName | null, limit: number): Promise<PinRow[]> {
  const beyond =
    after === null
      ? sql`true`
      : sql`(p.deployment_id, p.set_id) > (${after.deployment_id}::uuid, ${after.set_id}::uuid)`;
  const { rows } = await sql<PinRow>`with n as (${newest})
    select p.* from secret_pins p join n on n.organization_id = p.organization_id
    where ${isPinBehind} and ${beyond} order by p.deployment_id, p.set_id limit ${limit}
    for no key update of p skip locked`.execute(db);
  return rows;
}

export async function replacePinStamp(db: Database, row: PinRow): Promise<void> {
  await db
    .updateTable('secret_pins')
    .set({ stamp: row.stamp })
    .where('deployment_id', '=', row.deployment_id)
    .where('set_id', '=', row.set_id)
    .execute();
}

/** How many values, sets and pins there are, and how many a former key seals or stamps. */
export async function countSealed(db: Database) {
  const { rows } = await sql<Sealed>`
    with n as (${newest}) select
      (select count(*)::int from secret_values) as "values",
      (select count(*)::int from secret_sets) as sets,
      (select count(*)::int from secret_values v join secret_sets s on s.id = v.set_id
        join n on n.organization_id = s.organization_id where ${isValueBehind}) as "valuesBehind",
      (select count(*)::int from secret_sets s join n on n.organization_id = s.organization_id
        where ${isStampBehind}) as "setsBehind",
      (select count(*)::int from secret_pins) as pins,
      (select count(*)::int from secret_pins p join n on n.organization_id = p.organization_id
        where ${isPinBehind}) as "pinsBehind"`.execute(db);
  return rows[0] ?? { values: 0, valuesBehind: 0, sets: 0, setsBehind: 0, pins: 0, pinsBehind: 0 };
}

type Sealed = Readonly<Record<'values' | 'valuesBehind' | 'sets' | 'setsBehind' | 'pins' | 'pinsBehind', number>>;

export function setById(db: Database, id: string): Promise<SetRow | undefined> {
  return db.selectFrom('secret_sets').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function replaceValue(db: Database, row: ValueRow): Promise<void> {
  const { set_id, key, revision, ...change } = row;
  await db
    .updateTable('secret_values')
    .set(change)
    .where('set_id', '=', set_id)
    .where('key', '=', key)
    .where('revision', '=', revision)
    .execute();
}

export async function replaceRevisionStamp(
  db: Database,
  of: { readonly setId: string; readonly revision: number },
  stamp: Buffer,
): Promise<void> {
  await db
    .updateTable('secret_revisions')
    .set({ stamp })
    .where('set_id', '=', of.setId)
    .where('revision', '=', of.revision)
    .execute();
}

export function revisionRowsOf(db: Database, setId: string): Promise<Selectable<SecretRevisionsTable>[]> {
  return db.selectFrom('secret_revisions').selectAll().where('set_id', '=', setId).orderBy('revision').execute();
}

/** False where all pins of deployments are stamped already. */
export async function replaceUnstampedState(db: Database, state: Insertable<VaultStateTable>): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('vault_state')
    .set(state)
    .where('pins_stamped', '=', false)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Removes former versions of keys with which nothing is sealed or stamped. Of each that went it gives the organization. */
export async function retireKeys(db: Database): Promise<string[]> {
  await sql`with n as (select organization_id, purpose, max(version) as version from vault_keys group by 1, 2)
    select from vault_keys k join n on n.organization_id = k.organization_id and n.purpose = k.purpose
    where k.version < n.version for update of k`.execute(db);
  // A statement of its own: what somebody wrote while the locks were waited for is seen.
  const { rows } = await sql<{
    organization_id: string;
  }>`delete from vault_keys k where exists (select from vault_keys later
      where later.organization_id = k.organization_id and later.purpose = k.purpose and later.version > k.version)
    and not ${isKeyNamed} returning k.organization_id`.execute(db);
  return rows.map(({ organization_id }) => organization_id);
}

/** Former versions of keys: how many there are, and with how many of them something is sealed or stamped. */
export async function countFormerKeys(db: Database): Promise<{ former: number; referenced: number }> {
  const { rows } = await sql<{ former: number; referenced: number }>`
    select count(*)::int as former, count(*) filter (where ${isKeyNamed})::int as referenced from vault_keys k
    where exists (select from vault_keys later where later.organization_id = k.organization_id
      and later.purpose = k.purpose and later.version > k.version)`.execute(db);
  return rows[0] ?? { former: 0, referenced: 0 };
}

/** Organizations that have keys, by name. */
export function organizationsWithKeys(db: Database): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom('organizations')
    .select(['id', 'name'])
    .where((where) =>
      where.or([
        where.exists(
          where.selectFrom('vault_keys').select('version').whereRef('organization_id', '=', 'organizations.id'),
        ),
        where.exists(where.selectFrom('secret_sets').select('id').whereRef('organization_id', '=', 'organizations.id')),
      ]),
    )
    .orderBy('name')
    .execute();
}

export function findOrganization(db: Database, nameOrId: string): Promise<{ id: string; name: string } | undefined> {
  return db
    .selectFrom('organizations')
    .select(['id', 'name'])
    .where((where) =>
      where.or([where('name', '=', nameOrId), where(sql<string>`id::text`, '=', nameOrId.toLowerCase())]),
    )
    .executeTakeFirst();
}
