import { sql } from 'kysely';
import type { Database } from '../../store/tables.ts';
import type { SecretSetRow, ValueRow } from '../rows.ts';

const newestKeys = sql`select organization_id,
  max(version) filter (where purpose = 'value') as value,
  max(version) filter (where purpose = 'fingerprint') as fingerprint,
  max(version) filter (where purpose = 'stamp') as mac
  from vault_keys group by organization_id`;

/**
 * SQL condition: the set uses former keys for the encryption or fingerprint of one of its values, or for the MAC of one of its
 * revisions.
 */
const isBehind = sql<boolean>`(exists (select from secret_values v where v.set_id = s.id
    and (v.key_version <> n.value or v.fingerprint_version <> n.fingerprint))
  or exists (select from secret_revisions r where r.set_id = s.id and substring(r.mac from 1 for 4) <> int4send(n.mac)))`;

/**
 * Locks and returns secret sets that use former keys, at most `limit`, in the order of their ids. Starts after the id `after`;
 * null means with the first set. Skips sets that another transaction has locked.
 */
export async function lockSecretSetsForReencryption(
  db: Database,
  organizationId: string | null,
  after: string | null,
  limit: number,
): Promise<SecretSetRow[]> {
  const { rows } = await sql<SecretSetRow>`with n as (${newestKeys})
    select s.* from secret_sets s join n on n.organization_id = s.organization_id
    where ${isBehind} and (${organizationId}::uuid is null or s.organization_id = ${organizationId}::uuid)
      and (${after}::uuid is null or s.id > ${after}::uuid)
    order by s.id limit ${limit} for update of s skip locked`.execute(db);
  return rows;
}

export async function countSetsWithFormerKeys(
  db: Database,
  organizationId: string | null,
): Promise<{ total: number; behind: number }> {
  const { rows } = await sql<{ total: number; behind: number }>`with n as (${newestKeys})
    select count(*)::int as total, (count(*) filter (where ${isBehind}))::int as behind
    from secret_sets s left join n on n.organization_id = s.organization_id
    where ${organizationId}::uuid is null or s.organization_id = ${organizationId}::uuid`.execute(db);
  return rows[0] ?? { total: 0, behind: 0 };
}

export async function countSecretValues(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from secret_values`.execute(db);
  return rows[0]?.count ?? 0;
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
