import { type ApiKey, failure } from '@bothost/contract';
import type { Actor } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { createKey } from './keys.ts';
import { findAnyOrganization, findOrganizationByNameOrId } from './rows.ts';

/**
 * Creates a private key for an organization without one of its keys. `organization`: name or id; null is the oldest.
 *
 * @throws failure `organization-not-found`
 */
export async function createOperatorKey(
  context: { db: Database; now: () => Date; newId: () => string },
  operator: Actor,
  wanted: { readonly organization: string | null; readonly name: string },
): Promise<ApiKey & { key: string; organization: string }> {
  const { db } = context;
  const { organization } = wanted;
  const row = await (organization === null ? findAnyOrganization(db) : findOrganizationByNameOrId(db, organization));
  if (row === undefined) throw failure('organization-not-found');
  const key = { kind: 'private', name: wanted.name } as const;
  return { ...(await createKey(context, { ...operator, organizationId: row.id }, key)), organization: row.name };
}
