import type { Database } from '../store/tables.ts';
import type { RevisionRow, SecretSetRow } from './rows.ts';
import { DamagedDataError } from './vault/damaged-data-error.ts';
import { toEpochMilliseconds } from './vault/encode.ts';
import type { VersionedKey } from './vault/encrypted-value.ts';
import { type Keyring, macKeyPurpose } from './vault/keyring.ts';
import { computeMac, isValidMac, readMacKeyVersion } from './vault/mac.ts';

/**
 * Columns that only the MAC authenticates, because they are not part of an encrypted value. Without the MAC, changing the
 * registry `host` in the database, for example, would send credentials to another server.
 */
type AuthenticatedFields = Pick<RevisionRow, 'revision' | 'host' | 'expires_at' | 'entries'>;
type Identity = Pick<SecretSetRow, 'id' | 'organization_id' | 'name' | 'kind' | 'region'>;

const purpose = 'secret revision';

/** MAC over the set's id, organization, name, kind and region, and the revision's number, host, expiry and keys. */
export function computeRevisionMac(key: VersionedKey, set: Identity, row: AuthenticatedFields): Buffer {
  return computeMac(key, purpose, fieldsOf(set, row));
}

/**
 * Verifies the MAC of a revision.
 *
 * @throws DamagedDataError if the revision does not match its MAC; RootKeyMissingError if its root key is not available
 */
export async function requireRevisionMac(
  { db, keyring }: { readonly db: Database; readonly keyring: Keyring },
  set: Identity,
  row: AuthenticatedFields & Pick<RevisionRow, 'mac'>,
): Promise<void> {
  const version = readMacKeyVersion(row.mac);
  if (row.mac !== null && version !== null) {
    const key = await keyring.version(db, set.organization_id, macKeyPurpose, version);
    if (isValidMac(key, purpose, fieldsOf(set, row), row.mac)) return;
  }
  throw new DamagedDataError(`revision ${row.revision} does not match its MAC`);
}

function fieldsOf(set: Identity, row: AuthenticatedFields): (string | number | null)[] {
  return [
    set.id,
    set.organization_id,
    set.name,
    set.kind,
    set.region,
    row.revision,
    row.host,
    row.expires_at === null ? null : toEpochMilliseconds(row.expires_at),
    JSON.stringify(row.entries),
  ];
}
