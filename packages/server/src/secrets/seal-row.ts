import { randomBytes } from 'node:crypto';
import type { Database } from '../store/tables.ts';
import { placeOf } from './open-set.ts';
import type { SecretSetRow, ValueRow } from './rows.ts';
import { fingerprintOf } from './vault/fingerprint.ts';
import type { Keyring } from './vault/keyring.ts';
import { sealValue, type VersionedKey } from './vault/sealed-value.ts';

/** The keys that seal what an organization writes now. */
export type SealingKeys = {
  readonly value: VersionedKey;
  readonly fingerprint: VersionedKey;
  readonly stamp: VersionedKey;
};

export async function sealingKeys(
  context: { readonly db: Database; readonly keyring: Keyring },
  organizationId: string,
): Promise<SealingKeys> {
  const current = (purpose: keyof SealingKeys) => context.keyring.current(context.db, organizationId, purpose);
  return { value: await current('value'), fingerprint: await current('fingerprint'), stamp: await current('stamp') };
}

/** A value as the row that it is stored as. */
export function sealRow(
  keys: SealingKeys,
  set: Pick<SecretSetRow, 'id' | 'organization_id' | 'region' | 'kind'>,
  of: { readonly key: string; readonly revision: number; readonly createdAt: Date },
  value: Buffer,
): ValueRow {
  const open = {
    set_id: set.id,
    key: of.key,
    revision: of.revision,
    key_version: keys.value.version,
    fingerprint: fingerprintOf(keys.fingerprint, { setId: set.id, key: of.key }, value),
    fingerprint_version: keys.fingerprint.version,
    bytes: value.length,
    created_at: of.createdAt,
  };
  return { ...open, sealed: sealValue(keys.value, placeOf(set, open), value, randomBytes) };
}
