import { sql } from 'kysely';
import type { Database } from '../../store/tables.ts';

export function listOrganizationsWithVaultData(db: Database): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom('organizations')
    .select(['id', 'name'])
    .where((where) =>
      where.or([
        where.exists(
          where.selectFrom('vault_keys').select('version').whereRef('organization_id', '=', 'organizations.id'),
        ),
        where.exists(where.selectFrom('secret_sets').select('id').whereRef('organization_id', '=', 'organizations.id')),
        where.exists(
          where.selectFrom('provider_keys').select('provider').whereRef('organization_id', '=', 'organizations.id'),
        ),
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

export async function findOrganizationName(db: Database, id: string): Promise<string> {
  return (await findOrganization(db, id))?.name ?? id;
}
