import { randomBytes } from 'node:crypto';
import type { Database } from '../store/tables.ts';
import { requireRevisionMac } from './revision-mac.ts';
import { findRevision, findValueRows, type RevisionRow, type SecretSetRow, type ValueRow } from './rows.ts';
import { DamagedDataError } from './vault/damaged-data-error.ts';
import {
  decryptValue,
  encryptValue,
  readKeyVersion,
  type SecretEncryptionContext,
  type VersionedKey,
} from './vault/encrypted-value.ts';
import { computeSecretValueFingerprint } from './vault/fingerprint.ts';
import { createCachingKeyring, type Keyring, macKeyPurpose } from './vault/keyring.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };
type SetIdentity = Pick<SecretSetRow, 'id' | 'organization_id' | 'region' | 'kind'>;

export type CurrentKeysOfOrganization = {
  readonly value: VersionedKey;
  readonly fingerprint: VersionedKey;
  readonly mac: VersionedKey;
};

export async function readCurrentKeysOfOrganization(
  { db, keyring }: Context,
  organizationId: string,
): Promise<CurrentKeysOfOrganization> {
  return {
    value: await keyring.current(db, organizationId, 'value'),
    fingerprint: await keyring.current(db, organizationId, 'fingerprint'),
    mac: await keyring.current(db, organizationId, macKeyPurpose),
  };
}

export function encryptToRow(
  keys: CurrentKeysOfOrganization,
  set: SetIdentity,
  of: { readonly key: string; readonly revision: number; readonly createdAt: Date },
  value: Buffer,
): ValueRow {
  const row = {
    set_id: set.id,
    key: of.key,
    revision: of.revision,
    key_version: keys.value.version,
    fingerprint: computeSecretValueFingerprint(keys.fingerprint, { setId: set.id, key: of.key }, value),
    fingerprint_version: keys.fingerprint.version,
    bytes: value.length,
    created_at: of.createdAt,
  };
  return { ...row, sealed: encryptValue(keys.value, contextOf(set, row), value, randomBytes) };
}

/**
 * Decrypts one value of a secret set.
 *
 * @throws DamagedDataError if the value does not belong to its row; RootKeyMissingError if its root key is not available
 */
export async function decryptRow({ db, keyring }: Context, set: SetIdentity, row: ValueRow): Promise<Buffer> {
  const key = await keyring.version(db, set.organization_id, 'value', readKeyVersion(row.sealed));
  return decryptValue(key, contextOf(set, row), row.sealed);
}

/**
 * Reads a revision and verifies its MAC.
 *
 * @throws DamagedDataError if the revision is missing or does not match its MAC; RootKeyMissingError if its root key is not
 * available
 */
export async function readVerifiedSecretRevision(
  context: Context,
  set: SecretSetRow,
  revision: number,
): Promise<RevisionRow> {
  const row = await findRevision(context.db, set.id, revision);
  if (row === undefined) throw new DamagedDataError(`revision ${revision} is missing`);
  await requireRevisionMac(context, set, row);
  return row;
}

/**
 * Returns the encrypted values of a revision by key, in the order of the keys in the revision.
 *
 * @throws DamagedDataError if a value is missing
 */
export async function readValueRows(db: Database, revision: RevisionRow): Promise<Map<string, ValueRow>> {
  const rows = await findValueRows(db, revision.set_id, revision.entries);
  return new Map(
    revision.entries.map(([key, written]) => {
      const row = rows.find((candidate) => candidate.key === key && candidate.revision === written);
      if (row === undefined) throw new DamagedDataError(`revision ${written} has no value for ${key}`);
      return [key, row];
    }),
  );
}

/**
 * Decrypts all values of a revision. The caller must have locked the row `set`, or must have read `set` in the transaction
 * snapshot in which this function reads the values.
 *
 * @throws DamagedDataError, RootKeyMissingError
 */
export async function decryptRevision(
  context: Context,
  set: SecretSetRow,
  revision: number,
): Promise<Map<string, Buffer>> {
  const reading = { ...context, keyring: createCachingKeyring(context.keyring) };
  const rows = await readValueRows(context.db, await readVerifiedSecretRevision(reading, set, revision));
  const values = new Map<string, Buffer>();
  for (const [key, row] of rows) values.set(key, await decryptRow(reading, set, row));
  return values;
}

function contextOf(set: SetIdentity, row: Omit<ValueRow, 'sealed'>): SecretEncryptionContext {
  return {
    organizationId: set.organization_id,
    region: set.region,
    setId: set.id,
    kind: set.kind,
    key: row.key,
    revision: row.revision,
    fingerprint: row.fingerprint,
    fingerprintVersion: row.fingerprint_version,
    bytes: row.bytes,
    createdAt: row.created_at,
  };
}
