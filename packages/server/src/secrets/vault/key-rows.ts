import { type Insertable, type Selectable, sql } from 'kysely';
import type { Database, VaultKeysTable, VaultStateTable } from '../../store/tables.ts';

export type VaultKeyRow = Selectable<VaultKeysTable>;
export type KeyPurpose = VaultKeyRow['purpose'];

/** `share` holds it against a change of the root key until the transaction ends. */
export function findState(db: Database, lock: 'share' | null = null): Promise<Selectable<VaultStateTable> | undefined> {
  const query = db.selectFrom('vault_state').selectAll();
  return (lock === 'share' ? query.forShare() : query).executeTakeFirst();
}

/** Of two servers that start at once, the first one's stays. */
export async function insertState(db: Database, row: Insertable<VaultStateTable>): Promise<void> {
  await db
    .insertInto('vault_state')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Takes the state away as long as nothing is sealed but its own canary. Sets whose keys are gone count: what they hold may
 * come back with a backup of the keys, and opens with the former root key only.
 */
export async function deleteUnusedState(db: Database): Promise<void> {
  await sql`delete from vault_state
    where not exists (select from vault_keys) and not exists (select from secret_sets)`.execute(db);
}

/** The root keys without which something that is stored does not open. */
export async function rootKeyIdsInUse(db: Database): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select root_key_id as id from vault_state union select root_key_id from vault_keys order by id`.execute(db);
  return rows.map(({ id }) => id);
}

/** Locked against being retired: who seals with it in a transaction has it until that ends. */
export function newestKey(db: Database, organizationId: string, purpose: KeyPurpose): Promise<VaultKeyRow | undefined> {
  return db
    .selectFrom('vault_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('purpose', '=', purpose)
    .orderBy('version', 'desc')
    .limit(1)
    .forKeyShare()
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

export type KeyName = Pick<VaultKeyRow, 'organization_id' | 'purpose' | 'version'>;

/**
 * Keys that another root key than `rootKeyId` wraps, in order from `after` on, locked; those that somebody else is at are
 * left out. Who seals with them goes on.
 */
export function lockKeysNotUnder(
  db: Database,
  rootKeyId: string,
  after: KeyName | null,
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

/** How many keys each root key wraps. */
export async function countKeysByRoot(db: Database): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; count: number }>`
    select root_key_id as id, count(*)::int as count from vault_keys group by root_key_id`.execute(db);
  return new Map(rows.map(({ id, count }) => [id, count]));
}

export async function rewrapKey(
  db: Database,
  row: KeyName,
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
