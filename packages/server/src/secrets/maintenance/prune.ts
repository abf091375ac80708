import { appendAudit } from '../../audit/append.ts';
import { requireRevisionMac } from '../revision-mac.ts';
import { revisionRowsOf } from '../rows.ts';
import { DamagedError } from '../vault/damaged.ts';
import { RootKeyMissing } from '../vault/root-key.ts';
import type { MaintenanceContext, PinsOf } from './context.ts';
import { deleteRevisions, deleteValuesExcept, lockSet, setsWithMore } from './prune-rows.ts';

/** How many of the newest revisions of a set are kept, whether a deployment runs with them or not. */
export const keptRevisions = 10;

type Context = Omit<MaintenanceContext, 'rootKeys'> & { readonly pinsOf: PinsOf };

/**
 * Deletes all revisions of sets but the newest ten and any that deployments run with, and the values that no other revision uses.
 * Each set is one transaction with its audit entry. A damaged set stays unchanged. Returns how many revisions it deleted.
 */
export async function pruneRevisions(context: Context): Promise<number> {
  let deleted = 0;
  for (const id of await setsWithMore(context.db, keptRevisions)) {
    try {
      deleted += await context.db.transaction().execute((db) => pruneSet({ ...context, db }, id));
    } catch (error) {
      // Caught outside the transaction, so that it is rolled back.
      if (!(error instanceof DamagedError || error instanceof RootKeyMissing)) throw error;
    }
  }
  return deleted;
}

/** The revisions that stay. */
export function planPruning(revisions: readonly number[], pins: readonly number[], kept = keptRevisions): number[] {
  const newest = new Set(revisions.slice(-kept));
  return revisions.filter((revision) => newest.has(revision) || pins.includes(revision));
}

async function pruneSet(context: Context, id: string): Promise<number> {
  const { db } = context;
  // A deploy that pins the newest revision waits for this lock. Other revisions get no new pins.
  const set = await lockSet(db, id);
  if (set === undefined) return 0;
  const rows = await revisionRowsOf(db, id);
  const stored = rows.map(({ revision }) => revision);
  const kept = planPruning(stored, await context.pinsOf(db, id));
  const deleted = stored.filter((revision) => !kept.includes(revision));
  if (deleted.length === 0) return 0;
  // A forged list of keys must not decide which values are deleted.
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
