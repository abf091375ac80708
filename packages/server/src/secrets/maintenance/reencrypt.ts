import type { VaultFinding } from '../../store/tables.ts';
import { decryptRow, encryptToRow, readCurrentKeys } from '../encrypted-values.ts';
import { computeRevisionMac, requireRevisionMac } from '../revision-mac.ts';
import { listRevisionRows, type SecretSetRow, updateMac } from '../rows.ts';
import { DamagedError } from '../vault/damaged.ts';
import { withVersionCache } from '../vault/keyring.ts';
import { RootKeyMissing } from '../vault/root-key.ts';
import type { MaintenanceContext, PassResult, ReportProgress } from './context.ts';
import { findOrganizationName } from './organizations.ts';
import { listValueRows, lockSetsWithFormerKeys, replaceValue } from './reencrypt-rows.ts';

const setsAtOnce = 10;

/**
 * Re-encrypts, in one pass, the secret sets of one or all organizations that use former keys. A set with any damaged data is not
 * changed at all. Sets that another transaction has locked are left for the next pass. Reads and writes continue.
 */
export async function reencryptSets(
  context: MaintenanceContext,
  organizationId: string | null,
  advance: ReportProgress,
): Promise<PassResult> {
  const findings: VaultFinding[] = [];
  for (let after: string | null = null; ; ) {
    const sets: SecretSetRow[] = await context.db.transaction().execute(async (db) => {
      const locked = await lockSetsWithFormerKeys(db, organizationId, after, setsAtOnce);
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
  const reading = { db, keyring: withVersionCache(context.keyring) };
  try {
    const keys = await readCurrentKeys(reading, set.organization_id);
    const revisions = await listRevisionRows(db, set.id);
    for (const row of revisions) await requireRevisionMac(reading, set, row);
    const values = [];
    for (const row of await listValueRows(db, set.id)) {
      const value = await decryptRow(reading, set, row);
      values.push(encryptToRow(keys, set, { key: row.key, revision: row.revision, createdAt: row.created_at }, value));
      value.fill(0);
    }
    // Values are written only after all of them have been verified.
    for (const row of values) await replaceValue(db, row);
    for (const row of revisions) await updateMac(db, set.id, row.revision, computeRevisionMac(keys.mac, set, row));
    return null;
  } catch (error) {
    if (error instanceof DamagedError || error instanceof RootKeyMissing) return error.message;
    throw error;
  }
}
