import { randomBytes } from 'node:crypto';
import type { Database } from '../store/tables.ts';
import type { Keyring } from './vault/keyring.ts';
import {
  decryptOrganizationValue,
  encryptOrganizationValue,
  type OrganizationValueOwner,
  readOrganizationValueVersion,
} from './vault/organization-value.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };

/**
 * Encrypts a value with the newest key of its organization, which must exist: call `keyring.ensure` outside of a transaction
 * before.
 *
 * @throws DamagedDataError, RootKeyMissingError
 */
export async function encryptForOrganization(
  { db, keyring }: Context,
  owner: OrganizationValueOwner,
  value: Buffer,
): Promise<Buffer> {
  const key = await keyring.current(db, owner.organizationId, 'value');
  return encryptOrganizationValue(key, owner, value, randomBytes);
}

/** Decrypts the result of `encryptForOrganization`. @throws DamagedDataError, RootKeyMissingError */
export async function decryptForOrganization(
  { db, keyring }: Context,
  owner: OrganizationValueOwner,
  stored: Buffer,
): Promise<Buffer> {
  const version = readOrganizationValueVersion(stored);
  return decryptOrganizationValue(await keyring.version(db, owner.organizationId, 'value', version), owner, stored);
}
