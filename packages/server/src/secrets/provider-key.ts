import type { Database } from '../store/tables.ts';
import { decryptForOrganization, encryptForOrganization } from './organization-encryption.ts';
import {
  deleteProviderKeyRow,
  findProviderKeyRow,
  listProviderKeyRows,
  type ProviderKeyRow,
  upsertProviderKey,
} from './provider-key-rows.ts';
import type { Keyring } from './vault/keyring.ts';
import { readOrganizationValueVersion } from './vault/organization-value.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };
type Identity = { readonly organizationId: string; readonly provider: string };

export type StoredProviderKey = Pick<ProviderKeyRow, 'provider' | 'account' | 'details' | 'connected_at'>;

/**
 * Stores the key of a provider, which replaces an earlier one. Call `keyring.ensure` before, outside of a transaction.
 *
 * @throws DamagedDataError, RootKeyMissingError
 */
export async function storeProviderKey(
  context: Context,
  { organizationId, provider }: Identity,
  stored: Omit<StoredProviderKey, 'provider'> & { readonly value: Buffer },
): Promise<void> {
  const { value, ...fields } = stored;
  const sealed = await encryptForOrganization(context, ownerOf(organizationId, provider), value);
  const key_version = readOrganizationValueVersion(sealed);
  await upsertProviderKey(context.db, { organization_id: organizationId, provider, sealed, key_version, ...fields });
}

/** Returns the decrypted key of a provider. Null if the organization has none. @throws DamagedDataError, RootKeyMissingError */
export async function findProviderKey(
  context: Context,
  { organizationId, provider }: Identity,
): Promise<Buffer | null> {
  const row = await findProviderKeyRow(context.db, { organization_id: organizationId, provider });
  return row === undefined ? null : decryptProviderKey(context, row);
}

/** @throws DamagedDataError, RootKeyMissingError */
export function decryptProviderKey(context: Context, row: ProviderKeyRow): Promise<Buffer> {
  return decryptForOrganization(context, ownerOf(row.organization_id, row.provider), row.sealed);
}

export async function listProviderKeys(db: Database, organizationId: string): Promise<readonly StoredProviderKey[]> {
  return listProviderKeyRows(db, organizationId);
}

/** Deletes the key of a provider. Returns null if the organization has none. */
export async function deleteProviderKey(
  db: Database,
  { organizationId, provider }: Identity,
): Promise<StoredProviderKey | null> {
  return (await deleteProviderKeyRow(db, { organization_id: organizationId, provider })) ?? null;
}

/** Decrypts a stored key, and encrypts it with the newest key of its organization. @throws DamagedDataError, RootKeyMissingError */
export async function reencryptProviderKey(context: Context, row: ProviderKeyRow): Promise<void> {
  const value = await decryptProviderKey(context, row);
  const sealed = await encryptForOrganization(context, ownerOf(row.organization_id, row.provider), value);
  value.fill(0);
  await upsertProviderKey(context.db, { ...row, sealed, key_version: readOrganizationValueVersion(sealed) });
}

function ownerOf(organizationId: string, provider: string) {
  return { organizationId, use: ['provider key', provider] };
}
