import { sql } from 'kysely';
import type { Database } from '../../store/tables.ts';
import type { ValueRow } from '../rows.ts';
import { macKeyPurpose } from '../vault/keyring.ts';

const newestKeys = sql`select organization_id,
  max(version) filter (where purpose = 'value') as value,
  max(version) filter (where purpose = 'fingerprint') as fingerprint,
  max(version) filter (where purpose = ${macKeyPurpose}) as mac
  from vault_keys group by organization_id`;

/** Whether the set uses former keys to encrypt or fingerprint a value, or for the MAC of a revision. */
const isBehind = sql<boolean>`(exists (select from secret_values v where v.set_id = s.id
    and (v.key_version <> n.value or v.fingerprint_version <> n.fingerprint))
  or exists (select from secret_revisions r where r.set_id = s.id and substring(r.mac from 1 for 4) <> int4send(n.mac)))`;

export async function listSetsWithFormerKeys(db: Database, organizationId: string | null): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`with n as (${newestKeys})
    select s.id from secret_sets s join n on n.organization_id = s.organization_id
    where ${isBehind} and (${organizationId}::uuid is null or s.organization_id = ${organizationId}::uuid)`.execute(db);
  return rows.map(({ id }) => id);
}

export async function countSecretValues(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from secret_values`.execute(db);
  return rows[0]?.count ?? 0;
}

export function listVaultKeys(db: Database, organizationId: string) {
  return db
    .selectFrom('vault_keys')
    .select(['purpose', 'version'])
    .where('organization_id', '=', organizationId)
    .orderBy('purpose')
    .orderBy('version')
    .execute();
}

export function listSecretSetNames(db: Database, organizationId: string) {
  return db
    .selectFrom('secret_sets')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .orderBy('name')
    .execute();
}

export function listDeliveredRevisions(db: Database, setId: string): Promise<{ revision: number }[]> {
  return db.selectFrom('secret_deliveries').select('revision').where('set_id', '=', setId).execute();
}

export function listValueRows(db: Database, setId: string): Promise<ValueRow[]> {
  return db.selectFrom('secret_values').selectAll().where('set_id', '=', setId).orderBy('key').execute();
}

export async function replaceEncryptedValue(db: Database, row: ValueRow): Promise<void> {
  const { set_id, key, revision, ...change } = row;
  await db
    .updateTable('secret_values')
    .set(change)
    .where('set_id', '=', set_id)
    .where('key', '=', key)
    .where('revision', '=', revision)
    .execute();
}
