import type { Database } from '../../store/tables.ts';

export function listVaultKeysOfOrganization(db: Database, organizationId: string) {
  return db
    .selectFrom('vault_keys')
    .select(['purpose', 'version'])
    .where('organization_id', '=', organizationId)
    .orderBy('purpose')
    .orderBy('version')
    .execute();
}

export function listSecretSetRows(db: Database, organizationId: string) {
  return db
    .selectFrom('secret_sets')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .orderBy('name')
    .execute();
}

export function listDeliveredSecretRevisions(db: Database, setId: string): Promise<{ revision: number }[]> {
  return db.selectFrom('secret_deliveries').select('revision').where('set_id', '=', setId).execute();
}
