import type { VaultDamageFinding } from '../../store/tables.ts';
import { decryptRow, encryptToRow, readCurrentKeysOfOrganization } from '../encrypted-values.ts';
import { computeRevisionMac, requireRevisionMac } from '../revision-mac.ts';
import { listRevisionRows, type SecretSetRow, updateRevisionMac } from '../rows.ts';
import { DamagedDataError } from '../vault/damaged.ts';
import { createCachingKeyring } from '../vault/keyring.ts';
import { RootKeyMissingError } from '../vault/root-key.ts';
import type { MaintenanceContext, MaintenancePassResult, ProgressReporter } from './context.ts';
import { findOrganizationName } from './organizations.ts';
import { listValueRows, lockSecretSetsForReencryption, replaceEncryptedValue } from './reencrypt-rows.ts';

const setsAtOnce = 10;

/**
 * Re-encrypts, in one pass, all secret sets that use former keys. `organizationId` limits this to one organization. A set with
 * any damaged data is not changed at all. Sets that another transaction has locked are left for the next pass. Other requests
 * can read and write secrets during the pass.
 */
export async function reencryptSets(
  context: MaintenanceContext,
  organizationId: string | null,
  advance: ProgressReporter,
): Promise<MaintenancePassResult> {
  const findings: VaultDamageFinding[] = [];
  for (let after: string | null = null; ; ) {
    const sets: SecretSetRow[] = await context.db.transaction().execute(async (db) => {
      const locked = await lockSecretSetsForReencryption(db, organizationId, after, setsAtOnce);
      for (const set of locked) {
        const problem = await reencryptSet({ ...context, db }, set);
        if (problem === null) continue;
        findings.push({ organization: await findOrganizationName(db, set.organization_id), set: set.name, problem });
      }
      return locked;
    });
    after = sets.at(-1)?.id ?? null;
    if (after === null) return { findings, damaged: findings.length };
    await advance(sets.length);
  }
}

/** Re-encrypts one secret set. Returns why the set was not changed, or null if it was re-encrypted. */
async function reencryptSet(context: MaintenanceContext, set: SecretSetRow): Promise<string | null> {
  const { db } = context;
  const reading = { db, keyring: createCachingKeyring(context.keyring) };
  try {
    const keys = await readCurrentKeysOfOrganization(reading, set.organization_id);
    const revisions = await listRevisionRows(db, set.id);
    for (const row of revisions) await requireRevisionMac(reading, set, row);
    const values = [];
    for (const row of await listValueRows(db, set.id)) {
      const value = await decryptRow(reading, set, row);
      values.push(encryptToRow(keys, set, { key: row.key, revision: row.revision, createdAt: row.created_at }, value));
      value.fill(0);
    }
    // Values are written only after all of them have been verified.
    for (const row of values) await replaceEncryptedValue(db, row);
    for (const row of revisions)
      await updateRevisionMac(db, set.id, row.revision, computeRevisionMac(keys.mac, set, row));
    return null;
  } catch (error) {
    if (error instanceof DamagedDataError || error instanceof RootKeyMissingError) return error.message;
    throw error;
  }
}
