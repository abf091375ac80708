import { readSnapshot } from '../store/snapshot.ts';
import type { Database, SecretRevisionPin } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { decryptRow } from './encrypted-values.ts';
import { findRevision, findSecretSetById, findValueRows } from './rows.ts';
import { DamagedDataError } from './vault/damaged-data-error.ts';
import { createCachingKeyring, type Keyring } from './vault/keyring.ts';
import { RootKeyMissingError } from './vault/root-key.ts';

/** `isComplete`: `values` contains every value of the revisions that the deployment uses. */
export type SecretValuesToMask = { readonly values: readonly string[]; readonly isComplete: boolean };

/** Decrypts what it can, for masking. Never start a bot with the result, because values may be missing. */
export function decryptSecretValuesToMask(
  context: { readonly db: Database; readonly keyring: Keyring },
  organizationId: string,
  pins: readonly SecretRevisionPin[],
): Promise<SecretValuesToMask> {
  return readSnapshot(context.db, async (db) => {
    const reading = { db, keyring: createCachingKeyring(context.keyring) };
    const values: string[] = [];
    let isComplete = true;
    for (const { setId, revision: number } of pins) {
      const set = isUuid(setId) ? await findSecretSetById(db, organizationId, setId) : undefined;
      const revision = set === undefined ? undefined : await findRevision(db, set.id, number);
      if (set === undefined || revision === undefined) {
        isComplete = false;
        continue;
      }
      const rows = await findValueRows(db, set.id, revision.entries);
      isComplete &&= rows.length === revision.entries.length;
      for (const row of rows) {
        try {
          values.push((await decryptRow(reading, set, row)).toString('utf8'));
        } catch (error) {
          if (!(error instanceof DamagedDataError || error instanceof RootKeyMissingError)) throw error;
          isComplete = false;
        }
      }
    }
    return { values, isComplete };
  });
}
