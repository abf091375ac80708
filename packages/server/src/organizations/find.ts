import { createApiError, resourceNamePattern } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import {
  findOldestOrganizationRow,
  findOrganization,
  findOrganizationByNameOrId,
  type OrganizationRow,
} from './rows.ts';

export async function findOrganizationByName(db: Database, name: string): Promise<{ id: string } | null> {
  const row = await db.selectFrom('organizations').select('id').where('name', '=', name).executeTakeFirst();
  return row ?? null;
}

/** Finds an organization by name or id. Null if it does not exist. */
export async function findOrganizationByPathName(
  db: Database,
  nameOrId: string,
): Promise<Pick<OrganizationRow, 'id' | 'name'> | null> {
  // Do not query for an invalid name: it may contain a NUL character, which PostgreSQL rejects.
  if (!resourceNamePattern.test(nameOrId)) return null;
  return (await findOrganizationByNameOrId(db, nameOrId)) ?? null;
}

/**
 * Finds an organization by name or id, or the oldest organization for null.
 *
 * @throws failure `organization-not-found`
 */
export async function findOrganizationOrOldest(
  db: Database,
  nameOrId: string | null,
): Promise<Pick<OrganizationRow, 'id' | 'name'>> {
  const row = await (nameOrId === null ? findOldestOrganizationRow(db) : findOrganizationByNameOrId(db, nameOrId));
  if (row === undefined) throw createApiError('organization-not-found');
  return row;
}

/** The display name of an organization, or null if it does not exist. */
export async function findOrganizationName(db: Database, id: string): Promise<string | null> {
  return (await findOrganization(db, id))?.verbose_name ?? null;
}
