import { createApiError } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import type { SecretSetKeyRevision } from './change.ts';
import { decryptRow, readValueRows, readVerifiedSecretRevision } from './encrypted-values.ts';
import type { SecretSetRow, ValueRow } from './rows.ts';
import { DamagedDataError } from './vault/damaged-data-error.ts';
import { createCachingKeyring, type Keyring } from './vault/keyring.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };

export type SecretSetContent = {
  readonly host: string | null;
  readonly expiresAt: Date | null;
  readonly entries: readonly SecretSetKeyRevision[];
  readonly rows: ReadonlyMap<string, ValueRow>;
};

/** Reads the content of a revision without decrypting its values. @throws failure `secret-set-damaged` */
export function readSecretSet(context: Context, set: SecretSetRow, revision = set.revision): Promise<SecretSetContent> {
  return mapDamagedDataToFailure(async () => {
    const row = await readVerifiedSecretRevision(context, set, revision);
    return {
      host: row.host,
      expiresAt: row.expires_at,
      entries: row.entries,
      rows: await readValueRows(context.db, row),
    };
  });
}

/** Returns the keys whose stored value equals the given value. @throws failure `secret-set-damaged` */
export function findUnchangedSecretSetKeys(
  context: Context,
  set: SecretSetRow,
  rows: ReadonlyMap<string, ValueRow>,
  values: ReadonlyMap<string, Buffer>,
): Promise<ReadonlySet<string>> {
  return mapDamagedDataToFailure(async () => {
    const reading = { ...context, keyring: createCachingKeyring(context.keyring) };
    const unchanged = new Set<string>();
    for (const [key, value] of values) {
      const row = rows.get(key);
      if (row === undefined) continue;
      const stored = await decryptRow(reading, set, row);
      if (stored.equals(value)) unchanged.add(key);
      stored.fill(0);
    }
    return unchanged;
  });
}

/**
 * Runs `read`, and converts a DamagedDataError, whose message is only for the operator, to a failure.
 *
 * @throws failure `secret-set-damaged`
 */
export async function mapDamagedDataToFailure<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof DamagedDataError ? createApiError('secret-set-damaged', { cause: error }) : error;
  }
}
