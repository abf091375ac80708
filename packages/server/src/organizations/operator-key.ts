import type { ApiKey } from '@bothost/contract';
import type { Actor } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { findOrganizationOrOldest } from './find.ts';
import { createApiKey } from './keys.ts';

/**
 * Creates a private key for an organization that has lost its keys. `organization` is a name or id; null means the
 * oldest organization.
 *
 * @throws failure `organization-not-found`
 */
export async function createOperatorKey(
  context: { db: Database; now: () => Date; newId: () => string },
  operator: Actor,
  request: { readonly organization: string | null; readonly name: string },
): Promise<ApiKey & { key: string; organization: string }> {
  const { id, name } = await findOrganizationOrOldest(context.db, request.organization);
  const key = { kind: 'private', name: request.name } as const;
  return { ...(await createApiKey(context, { ...operator, organizationId: id }, key)), organization: name };
}
