import { type Insertable, type Selectable, sql } from 'kysely';
import type { ApiKeysTable, Database, OrganizationsTable } from '../store/tables.ts';

export type OrganizationRow = Selectable<OrganizationsTable>;
export type ApiKeyRow = Selectable<ApiKeysTable>;

export function findOrganization(db: Database, id: string): Promise<OrganizationRow | undefined> {
  return db.selectFrom('organizations').selectAll().where('id', '=', id).executeTakeFirst();
}

export function findOrganizationByNameOrId(db: Database, nameOrId: string): Promise<OrganizationRow | undefined> {
  return db
    .selectFrom('organizations')
    .selectAll()
    .where('deleted_at', 'is', null)
    .where((where) =>
      where.or([where('name', '=', nameOrId), where(sql<string>`id::text`, '=', nameOrId.toLowerCase())]),
    )
    .executeTakeFirst();
}

/** The oldest organization that is not deleted. */
export function findOldestOrganizationRow(db: Database): Promise<OrganizationRow | undefined> {
  return db
    .selectFrom('organizations')
    .selectAll()
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
}

/**
 * Takes an advisory lock until the transaction ends, so that only one server at a time creates the first organization.
 */
export async function lockFirstOrganizationCreation(db: Database): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('bothost first organization', 0))`.execute(db);
}

export async function insertOrganization(db: Database, row: Insertable<OrganizationsTable>): Promise<void> {
  await db.insertInto('organizations').values(row).execute();
}

export async function setDefaultRegion(db: Database, id: string, region: string): Promise<void> {
  await db.updateTable('organizations').set({ default_region: region }).where('id', '=', id).execute();
}

export function listRegionRows(db: Database) {
  return db.selectFrom('hosts').select(['region', 'accepts']).orderBy('region').execute();
}

export async function insertApiKey(db: Database, row: Insertable<ApiKeysTable>): Promise<void> {
  await db.insertInto('api_keys').values(row).execute();
}

export function listApiKeyRows(db: Database, organizationId: string): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('api_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export function markApiKeyRevoked(
  db: Database,
  organizationId: string,
  id: string,
  now: Date,
): Promise<ApiKeyRow | undefined> {
  return db
    .updateTable('api_keys')
    .set((column) => ({ revoked_at: column.fn.coalesce('revoked_at', column.val(now)) }))
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .returningAll()
    .executeTakeFirst();
}

export type ApiKeyWithOrganization = Pick<ApiKeyRow, 'id' | 'kind' | 'expires_at' | 'revoked_at' | 'last_used_at'> & {
  organization_id: string;
  organization_name: string;
  key_name: string;
};

export async function findApiKeyByHash(db: Database, hash: Buffer): Promise<ApiKeyWithOrganization | undefined> {
  const { rows } = await sql<ApiKeyWithOrganization>`/* prepared: key-by-hash */ select api_keys.id, kind, expires_at,
      revoked_at, last_used_at, organization_id, organizations.name as organization_name,
      api_keys.name as key_name
    from api_keys join organizations on organizations.id = organization_id where hash = ${hash}`.execute(db);
  return rows[0];
}

/** `publicKey` is the plain text of a public key, and null for a private one, which is stored only as a hash. */
export async function updateApiKeyLastUse(db: Database, id: string, at: Date, publicKey: string | null): Promise<void> {
  await db.updateTable('api_keys').set({ last_used_at: at, public_key: publicKey }).where('id', '=', id).execute();
}

export async function isNameTaken(db: Database, name: string): Promise<boolean> {
  // Until this transaction ends, the lock blocks other transactions that assign a name to an organization.
  await sql`select pg_advisory_xact_lock(hashtextextended('bothost organization names', 0))`.execute(db);
  const row = await db.selectFrom('organizations').select('id').where('name', '=', name).executeTakeFirst();
  return row !== undefined;
}

export async function isOnlyOrganizationOnServer(db: Database, id: string): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended('bothost organization names', 0))`.execute(db);
  const other = await db
    .selectFrom('organizations')
    .select('id')
    .where('id', '!=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return other === undefined;
}

/** Whether an organization has agents, secret sets or keys of providers. */
export async function hasAgentsOrSecrets(db: Database, id: string): Promise<boolean> {
  const agent = await db
    .selectFrom('agents')
    .select('id')
    .where('organization_id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  const set = await db.selectFrom('secret_sets').select('id').where('organization_id', '=', id).executeTakeFirst();
  const key = await db
    .selectFrom('provider_keys')
    .select('provider')
    .where('organization_id', '=', id)
    .executeTakeFirst();
  return agent !== undefined || set !== undefined || key !== undefined;
}

export async function findFirstRegisteredRegion(db: Database): Promise<string> {
  const { region } = await db.selectFrom('hosts').select('region').orderBy('id').limit(1).executeTakeFirstOrThrow();
  return region;
}

export async function updateOrganizationRow(db: Database, row: OrganizationRow): Promise<void> {
  const { id, default_region, created_at, ...changeable } = row;
  await db.updateTable('organizations').set(changeable).where('id', '=', id).execute();
}

export async function revokeAllKeys(db: Database, organizationId: string, at: Date): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .execute();
}

export async function deleteMembersAndOneTimeLinks(db: Database, organizationId: string): Promise<void> {
  await db.deleteFrom('organization_members').where('organization_id', '=', organizationId).execute();
  await db.deleteFrom('one_time_links').where('organization_id', '=', organizationId).execute();
}
