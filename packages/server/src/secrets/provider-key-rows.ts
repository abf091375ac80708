import { type Selectable, sql } from 'kysely';
import type { Database, ProviderKeysTable } from '../store/tables.ts';

export type ProviderKeyRow = Selectable<ProviderKeysTable>;
type ProviderKeyIdentity = Pick<ProviderKeyRow, 'organization_id' | 'provider'>;

export async function upsertProviderKey(db: Database, row: ProviderKeyRow): Promise<void> {
  const { organization_id, provider, ...rest } = row;
  const values = { ...rest, details: JSON.stringify(row.details) };
  await db
    .insertInto('provider_keys')
    .values({ organization_id, provider, ...values })
    .onConflict((conflict) => conflict.columns(['organization_id', 'provider']).doUpdateSet(values))
    .execute();
}

export function findProviderKeyRow(
  db: Database,
  { organization_id, provider }: ProviderKeyIdentity,
): Promise<ProviderKeyRow | undefined> {
  return db
    .selectFrom('provider_keys')
    .selectAll()
    .where('organization_id', '=', organization_id)
    .where('provider', '=', provider)
    .executeTakeFirst();
}

export function listProviderKeyRows(db: Database, organizationId: string): Promise<ProviderKeyRow[]> {
  return db
    .selectFrom('provider_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('provider')
    .execute();
}

export function deleteProviderKeyRow(
  db: Database,
  { organization_id, provider }: ProviderKeyIdentity,
): Promise<ProviderKeyRow | undefined> {
  return db
    .deleteFrom('provider_keys')
    .where('organization_id', '=', organization_id)
    .where('provider', '=', provider)
    .returningAll()
    .executeTakeFirst();
}

export function lockProviderKeyRows(db: Database, organizationId: string): Promise<ProviderKeyRow[]> {
  return db
    .selectFrom('provider_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('provider')
    .forUpdate()
    .execute();
}

/** Lists the provider keys that are encrypted with a former key of their organization, as `organization provider`. */
export async function listProviderKeysWithFormerKeys(
  db: Database,
  organizationId: string | null,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`select organization_id || ' ' || provider as id from provider_keys
    where (${organizationId}::uuid is null or organization_id = ${organizationId}::uuid)
      and key_version <> (select max(version) from vault_keys
        where vault_keys.organization_id = provider_keys.organization_id and purpose = 'value')`.execute(db);
  return rows.map(({ id }) => id);
}
