import { appendAudit } from '../../audit/append.ts';
import { requireRevisionStamp, requireSetWhole } from '../open-set.ts';
import { changeSet } from '../rows.ts';
import { sealingKeys } from '../seal-row.ts';
import { setFields } from '../stamped-fields.ts';
import { DamagedError } from '../vault/damaged.ts';
import { stampRow } from '../vault/fingerprint.ts';
import { RootKeyMissing } from '../vault/root-key.ts';
import type { UpkeepContext } from './context.ts';
import { deleteRevisions, deleteValuesBut, lockSet, setsWithMore } from './prune-rows.ts';
import { revisionRowsOf } from './rows.ts';
import type { PinsOf } from './verify.ts';

/** Revisions of a set that stay whether somebody runs with them or not. */
export const keptRevisions = 10;

type Context = Omit<UpkeepContext, 'rootKeys'> & { readonly pinsOf: PinsOf };

/**
 * Removes revisions of sets beyond the newest ten, but for those that a deployment runs with, and the values that no other
 * revision has. One transaction for each set, with its line in the audit log. A set that does not open stays as it is. Answers
 * how many revisions it removed.
 */
export async function pruneRevisions(context: Context): Promise<number> {
  let removed = 0;
  for (const id of await setsWithMore(context.db, keptRevisions)) {
    try {
      removed += await context.db.transaction().execute((db) => pruneSet({ ...context, db }, id));
    } catch (error) {
      // Outside of the transaction: what it did until then is taken back.
      if (!(error instanceof DamagedError || error instanceof RootKeyMissing)) throw error;
    }
  }
  return removed;
}

/** Which of a set's revisions stay. Pure. */
export function planPruning(revisions: readonly number[], pins: readonly number[], kept = keptRevisions): number[] {
  const newest = new Set(revisions.slice(-kept));
  return revisions.filter((revision) => newest.has(revision) || pins.includes(revision));
}

async function pruneSet(context: Context, id: string): Promise<number> {
  const { db } = context;
  // Whoever would pin its newest revision waits, and that one stays; no other can be pinned anew.
  const set = await lockSet(db, id);
  if (set === undefined) return 0;
  const revisions = planPruning(set.revisions, await context.pinsOf(db, id));
  const gone = set.revisions.filter((revision) => !revisions.includes(revision));
  if (gone.length === 0) return 0;
  await requireSetWhole(context, set);
  const rows = await revisionRowsOf(db, id);
  for (const row of rows) await requireRevisionStamp(context, set, row);
  const entries = rows.filter(({ revision }) => revisions.includes(revision)).flatMap((row) => row.entries);
  await deleteRevisions(db, id, gone);
  await deleteValuesBut(db, id, entries);
  const keys = await sealingKeys(context, set.organization_id);
  const stamp = stampRow(keys.stamp, 'secret_sets', setFields({ ...set, revisions }));
  await changeSet(db, id, { revisions, stamp });
  await appendAudit(db, set.organization_id, {
    at: context.now(),
    actor: { keyId: null },
    action: 'secrets.prune',
    object: set.name,
    region: set.region,
    keys: [],
    revisionBefore: gone[0] ?? null,
    revisionAfter: gone.at(-1) ?? null,
    result: 'done',
  });
  return gone.length;
}
