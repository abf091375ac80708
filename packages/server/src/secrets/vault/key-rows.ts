import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, VaultKeysTable, VaultStateTable } from '../../store/tables.ts';

export type VaultKeyRow = Selectable<VaultKeysTable>;
export type KeyPurpose = VaultKeyRow['purpose'];

export function findState(db: Database): Promise<Selectable<VaultStateTable> | undefined> {
  return db.selectFrom('vault_state').selectAll().executeTakeFirst();
}

/** Of two servers that start at once, the first one's stays. */
export async function insertState(db: Database, row: Insertable<VaultStateTable>): Promise<void> {
  await db
    .insertInto('vault_state')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function replaceState(
  db: Database,
  row: Pick<VaultStateTable, 'root_key_id' | 'canary' | 'created_at'>,
): Promise<void> {
  await db.updateTable('vault_state').set(row).execute();
}

/** The root keys without which something that is stored does not open. */
export async function rootKeyIdsInUse(db: Database): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select root_key_id as id from vault_state union select root_key_id from vault_keys order by id`.execute(db);
  return rows.map(({ id }) => id);
}

export function newestKey(db: Database, organizationId: string, purpose: KeyPurpose): Promise<VaultKeyRow | undefined> {
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

/** False when somebody else made this version first. */
export async function insertKey(db: Database, row: Insertable<VaultKeysTable>): Promise<boolean> {
  const made = await db
    .insertInto('vault_keys')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return made.numInsertedOrUpdatedRows === 1n;
}

/** Keys that another root key than `rootKeyId` wraps, locked; those that somebody else is at are left out. */
export function lockKeysNotUnder(db: Database, rootKeyId: string, limit: number): Promise<VaultKeyRow[]> {
  return db
    .selectFrom('vault_keys')
    .selectAll()
    .where('root_key_id', '<>', rootKeyId)
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
}

export async function rewrapKey(
  db: Database,
  row: Pick<VaultKeyRow, 'organization_id' | 'purpose' | 'version'>,
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
