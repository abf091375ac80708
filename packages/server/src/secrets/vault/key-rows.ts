import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, VaultKeysTable, VaultStateTable } from '../../store/tables.ts';

export type VaultKeyRow = Selectable<VaultKeysTable>;
export type KeyPurpose = VaultKeyRow['purpose'];
export type KeyIdentity = Pick<VaultKeyRow, 'organization_id' | 'purpose' | 'version'>;

/** Returns the row with the vault's state. The lock `share` keeps the current root key unchanged until the transaction ends. */
export function findVaultState(
  db: Database,
  lock: 'share' | null = null,
): Promise<Selectable<VaultStateTable> | undefined> {
  const query = db.selectFrom('vault_state').selectAll();
  return (lock === 'share' ? query.forShare() : query).executeTakeFirst();
}

/** Inserts the row with the id of the current root key. If two servers start at once, the row of the first server is kept. */
export async function insertVaultState(db: Database, row: Insertable<VaultStateTable>): Promise<void> {
  await db
    .insertInto('vault_state')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Deletes the row that stores the id of the current root key, if there are no organization keys, secret sets and
 * provider keys. Secret sets without keys keep the row, because the keys may still be restored from a backup.
 */
export async function deleteUnusedVaultState(db: Database): Promise<void> {
  await sql`delete from vault_state
    where not exists (select from vault_keys) and not exists (select from secret_sets)
      and not exists (select from provider_keys)`.execute(db);
}

export async function listRootKeyIds(db: Database): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select root_key_id as id from vault_state union select root_key_id from vault_keys order by id`.execute(db);
  return rows.map(({ id }) => id);
}

export async function hasStoredSecrets(db: Database): Promise<boolean> {
  const { rows } = await sql<{ stored: boolean }>`
    select exists (select from secret_sets) or exists (select from secret_values)
      or exists (select from provider_keys) as stored`.execute(db);
  return rows[0]?.stored === true;
}

/**
 * Returns whether the organization's key for a purpose, such as encrypting secret values, was lost: the organization has secret
 * sets but no key for the purpose, although keys are created before the first set. Uses one statement: between two statements, another
 * server's first write could look like a loss.
 */
export async function hasLostKey(db: Database, organizationId: string, purpose: KeyPurpose): Promise<boolean> {
  const { rows } = await sql<{ lost: boolean }>`
    select (exists (select from secret_sets where organization_id = ${organizationId})
      or exists (select from provider_keys where organization_id = ${organizationId})) and not exists (
      select from vault_keys where organization_id = ${organizationId} and purpose = ${purpose}) as lost`.execute(db);
  return rows[0]?.lost === true;
}

export function findNewestKey(
  db: Database,
  organizationId: string,
  purpose: KeyPurpose,
): Promise<VaultKeyRow | undefined> {
  return db
    .selectFrom('vault_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('purpose', '=', purpose)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export function findKey(
  db: Database,
  organizationId: string,
  purpose: KeyPurpose,
  version: number,
): Promise<VaultKeyRow | undefined> {
  return db
    .selectFrom('vault_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('purpose', '=', purpose)
    .where('version', '=', version)
    .executeTakeFirst();
}

/**
 * Returns the version number for a new key of an organization. It is greater than the versions of all stored keys, and greater
 * than the key versions that stored secret values and provider keys refer to. So the version of a lost key is never reused, and the lost key can
 * still be restored from a backup.
 */
export async function findUnusedKeyVersion(db: Database, organizationId: string): Promise<number> {
  const { rows } = await sql<{ version: number }>`select 1 + greatest(
    (select max(version) from vault_keys where organization_id = ${organizationId}),
    (select max(greatest(key_version, fingerprint_version)) from secret_values join secret_sets on id = set_id
      where organization_id = ${organizationId}),
    (select max(key_version) from provider_keys where organization_id = ${organizationId})) as version`.execute(db);
  return rows[0]?.version ?? 1;
}

/** Inserts a key. If another server has already created this version, the other server's key is kept. */
export async function insertVaultKey(db: Database, row: Insertable<VaultKeysTable>): Promise<void> {
  await db
    .insertInto('vault_keys')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Locks and returns keys that a former root key wraps, at most `limit`, in the order of the primary key. Starts after the key
 * `after`; null means with the first key. Skips keys that another server has locked.
 */
export function lockKeyRowsToRewrap(
  db: Database,
  rootKeyId: string,
  after: KeyIdentity | null,
  limit: number,
): Promise<VaultKeyRow[]> {
  return db
    .selectFrom('vault_keys')
    .selectAll()
    .where('root_key_id', '<>', rootKeyId)
    .$if(after !== null, (query) =>
      query.where(
        sql<boolean>`(organization_id, purpose, version) > (${after?.organization_id}::uuid, ${after?.purpose}, ${after?.version}::integer)`,
      ),
    )
    .orderBy('organization_id')
    .orderBy('purpose')
    .orderBy('version')
    .limit(limit)
    .forNoKeyUpdate()
    .skipLocked()
    .execute();
}

export async function countKeysByRootKey(db: Database): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; count: number }>`
    select root_key_id as id, count(*)::int as count from vault_keys group by root_key_id`.execute(db);
  return new Map(rows.map(({ id, count }) => [id, count]));
}

export async function updateWrappedKey(
  db: Database,
  row: KeyIdentity,
  change: Pick<VaultKeyRow, 'root_key_id' | 'wrapped'>,
): Promise<void> {
  await db
    .updateTable('vault_keys')
    .set(change)
    .where('organization_id', '=', row.organization_id)
    .where('purpose', '=', row.purpose)
    .where('version', '=', row.version)
    .execute();
}
