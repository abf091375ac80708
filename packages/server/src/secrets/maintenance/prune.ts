import { appendAudit } from '../../audit/append.ts';
import { requireRevisionMac } from '../revision-mac.ts';
import { listRevisionRows, lockSecretSet } from '../rows.ts';
import { DamagedDataError } from '../vault/damaged-data-error.ts';
import { RootKeyMissingError } from '../vault/root-key.ts';
import type { MaintenanceContext, PinnedRevisionLookup } from './context.ts';
import { deleteRevisions, deleteValuesExcept, listPrunableSecretSets } from './prune-rows.ts';

/** Number of newest revisions of a set that are kept even if no deployment runs with them. */
export const keptRevisionCount = 10;

type Context = Omit<MaintenanceContext, 'rootKeys'> & { readonly pinsOf: PinnedRevisionLookup };

/**
 * Deletes old revisions of secret sets. Keeps the newest ten revisions of each set and all revisions that deployments run with.
 * Also deletes the values that no remaining revision uses. Each set is pruned in one transaction with its audit entry. A
 * damaged set stays unchanged. Returns the number of deleted revisions.
 */
export async function pruneRevisions(context: Context): Promise<number> {
  let deleted = 0;
  for (const id of await listPrunableSecretSets(context.db, keptRevisionCount)) {
    try {
      deleted += await context.db.transaction().execute((db) => pruneSet({ ...context, db }, id));
    } catch (error) {
      // Catch the error outside the transaction, so that the transaction is rolled back.
      if (!(error instanceof DamagedDataError || error instanceof RootKeyMissingError)) throw error;
    }
  }
  return deleted;
}

export function planPruning(revisions: readonly number[], pins: readonly number[], kept = keptRevisionCount): number[] {
  const newest = new Set(revisions.slice(-kept));
  return revisions.filter((revision) => newest.has(revision) || pins.includes(revision));
}

async function pruneSet(context: Context, id: string): Promise<number> {
  const { db } = context;
  // Lock the set. Until the transaction ends, deploys and rollbacks that pin a revision of the set wait for this lock.
  const set = await lockSecretSet(db, id);
  if (set === undefined) return 0;
  const rows = await listRevisionRows(db, id);
  const stored = rows.map(({ revision }) => revision);
  const kept = planPruning(stored, await context.pinsOf(db, id));
  const deleted = stored.filter((revision) => !kept.includes(revision));
  if (deleted.length === 0) return 0;
  // Verify the MACs before deleting, because a forged list of keys must not decide which values are deleted.
  for (const row of rows) await requireRevisionMac(context, set, row);
  const entries = rows.filter(({ revision }) => kept.includes(revision)).flatMap((row) => row.entries);
  await deleteRevisions(db, id, deleted);
  await deleteValuesExcept(db, id, entries);
  await appendAudit(db, set.organization_id, {
    at: context.now(),
    actor: { keyId: null },
    action: 'secrets.prune',
    object: set.name,
    region: set.region,
    keys: [],
    revisionBefore: deleted[0] ?? null,
    revisionAfter: deleted.at(-1) ?? null,
    result: 'done',
  });
  return deleted.length;
}
