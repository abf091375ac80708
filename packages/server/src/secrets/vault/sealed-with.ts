import { sql } from 'kysely';
import type { Database } from '../../store/tables.ts';
import type { KeyName } from './key-rows.ts';

/** Whether anything is stored that was sealed with a root key in the end, whatever became of the keys in between. */
export async function isAnythingSealed(db: Database): Promise<boolean> {
  const { rows } = await sql<{ sealed: boolean }>`
    select exists (select from secret_sets) or exists (select from secret_values) as sealed`.execute(db);
  return rows[0]?.sealed === true;
}

/**
 * Whether an organization has sets and no key of a purpose, at one moment: its keys come before its first set, so they were
 * there and are lost.
 */
export async function hasLostKeys(db: Database, of: Pick<KeyName, 'organization_id' | 'purpose'>): Promise<boolean> {
  const { rows } = await sql<{ lost: boolean }>`
    select exists (select from secret_sets where organization_id = ${of.organization_id}) and not exists (
      select from vault_keys where organization_id = ${of.organization_id} and purpose = ${of.purpose}) as lost`.execute(
    db,
  );
  return rows[0]?.lost === true;
}

/**
 * Whether anything that is stored names the key `k` as the one that sealed, stamped or fingerprinted it. What the sealed
 * bytes say counts, too: a column may have been changed.
 */
export const isKeyNamed = sql<boolean>`(exists (select from secret_sets s where s.organization_id = k.organization_id and (
  case k.purpose
    when 'stamp' then substring(s.stamp from 1 for 4) = int4send(k.version) or exists (select from secret_revisions r
      where r.set_id = s.id and substring(r.stamp from 1 for 4) = int4send(k.version)) or exists (select from
      pull_secret_checks c where c.set_id = s.id and substring(c.stamp from 1 for 4) = int4send(k.version))
    when 'value' then exists (select from secret_values v where v.set_id = s.id
      and (v.key_version = k.version or substring(v.sealed from 3 for 4) = int4send(k.version)))
    else exists (select from secret_values v where v.set_id = s.id and v.fingerprint_version = k.version)
  end)) or k.purpose = 'stamp' and exists (select from secret_pins p
    where p.organization_id = k.organization_id and substring(p.stamp from 1 for 4) = int4send(k.version)))`;

/**
 * The first version after one that nothing stored names. A version that is named and not there was lost, and may come back
 * with a backup: another key never takes its number.
 */
export async function nextVersion(db: Database, newest: KeyName): Promise<number> {
  for (let version = newest.version + 1; ; version += 1) {
    const { rows } = await sql<{ named: boolean }>`select ${isKeyNamed} as named from (values
      (${newest.organization_id}::uuid, ${newest.purpose}::text, ${version}::integer)
    ) as k (organization_id, purpose, version)`.execute(db);
    if (rows[0]?.named !== true) return version;
  }
}
