import type { Database } from '../store/tables.ts';
import type { CheckRow } from './check-rows.ts';
import { requireStamp } from './open-set.ts';
import type { SecretSetRow } from './rows.ts';
import { checkFields } from './stamped-fields.ts';
import { isDamage } from './vault/damaged.ts';
import { stampRow } from './vault/fingerprint.ts';
import type { Keyring } from './vault/keyring.ts';
import type { VersionedKey } from './vault/sealed-value.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };

/** What a registry said, with the stamp that its row has under this key. */
export function stampedCheck(key: VersionedKey, row: Omit<CheckRow, 'stamp'>): CheckRow {
  return { ...row, stamp: stampRow(key, 'pull_secret_checks', checkFields(row)) };
}

/** @throws DamagedError unless the row says what a registry said */
export function requireCheckStamp(
  context: Context,
  set: Pick<SecretSetRow, 'organization_id'>,
  row: CheckRow,
): Promise<void> {
  return requireStamp(context, set.organization_id, 'pull_secret_checks', checkFields(row), row.stamp);
}

/** A check that is not what a registry said was never made: nothing is decided by it, so nothing else is held up. */
export async function trueCheck(
  context: Context,
  set: Pick<SecretSetRow, 'organization_id'>,
  row: CheckRow,
): Promise<CheckRow | null> {
  try {
    await requireCheckStamp(context, set, row);
    return row;
  } catch (error) {
    if (isDamage(error)) return null;
    throw error;
  }
}
