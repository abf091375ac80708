import type { VaultFinding } from '../../store/tables.ts';
import { currentKeys, decryptRow, encryptRow } from '../encrypted-values.ts';
import { requireRevisionMac, revisionMac } from '../revision-mac.ts';
import { revisionRowsOf, type SecretSetRow, updateMac } from '../rows.ts';
import { DamagedError } from '../vault/damaged.ts';
import { withVersionCache } from '../vault/keyring.ts';
import { RootKeyMissing } from '../vault/root-key.ts';
import type { Advance, MaintenanceContext, PassResult } from './context.ts';
import { organizationName } from './organizations.ts';
import { lockSetsBehind, replaceValue, valueRowsOfSet } from './reencrypt-rows.ts';

const setsAtOnce = 10;

/**
 * Re-encrypts the sets of one or all organizations that former keys protect, in one pass. A set is changed as a whole or, if
 * something of it is damaged, not at all. Sets that another transaction has locked are left for the next pass. Reads and writes
 * continue.
 */
export async function reencrypt(
  context: MaintenanceContext,
  organizationId: string | null,
  advance: Advance,
): Promise<PassResult> {
  const findings: VaultFinding[] = [];
  for (let after: string | null = null; ; ) {
    const sets: SecretSetRow[] = await context.db.transaction().execute(async (db) => {
      const locked = await lockSetsBehind(db, organizationId, after, setsAtOnce);
      for (const set of locked) {
        const problem = await reencryptSet({ ...context, db }, set);
        if (problem === null) continue;
        findings.push({ organization: await organizationName(db, set.organization_id), set: set.name, problem });
      }
      return locked;
    });
    after = sets.at(-1)?.id ?? null;
    if (after === null) return { findings, damaged: findings.length };
    await advance(sets.length);
  }
}

/** Returns why the set stays unchanged, or null. */
async function reencryptSet(context: MaintenanceContext, set: SecretSetRow): Promise<string | null> {
  const { db } = context;
  const reading = { db, keyring: withVersionCache(context.keyring) };
  try {
    const keys = await currentKeys(reading, set.organization_id);
    const revisions = await revisionRowsOf(db, set.id);
    for (const row of revisions) await requireRevisionMac(reading, set, row);
    const values = [];
    for (const row of await valueRowsOfSet(db, set.id)) {
      const value = await decryptRow(reading, set, row);
      values.push(encryptRow(keys, set, { key: row.key, revision: row.revision, createdAt: row.created_at }, value));
      value.fill(0);
    }
    // Nothing is written before everything has been verified.
    for (const row of values) await replaceValue(db, row);
    for (const row of revisions) await updateMac(db, set.id, row.revision, revisionMac(keys.mac, set, row));
    return null;
  } catch (error) {
    if (error instanceof DamagedError || error instanceof RootKeyMissing) return error.message;
    throw error;
  }
}
