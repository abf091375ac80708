import type { Database } from '../store/tables.ts';
import { type Entry, type KeyChange, keysOf } from './change.ts';
import { insertDelivery } from './delivery-rows.ts';
import { changeSet, insertRevision, insertValues, type RevisionRow, type SecretSetRow, type ValueRow } from './rows.ts';
import type { SealingKeys } from './seal-row.ts';
import { revisionFields, setFields } from './stamped-fields.ts';
import { stampRow } from './vault/fingerprint.ts';

export type Draft = {
  readonly action: RevisionRow['action'];
  readonly rolledBackTo: number | null;
  readonly host: string | null;
  readonly expiresAt: Date | null;
  readonly entries: readonly Entry[];
  readonly changes: readonly KeyChange[];
  /** The rows of what is new or changed. */
  readonly values: readonly ValueRow[];
};

/** Writes the next revision of a set that is locked, and sends it on its way. Returns its number. */
export async function recordRevision(
  context: { readonly db: Database; readonly now: () => Date },
  set: SecretSetRow,
  keyId: string,
  keys: SealingKeys,
  draft: Draft,
): Promise<number> {
  const { db } = context;
  const at = context.now();
  const row: Omit<RevisionRow, 'stamp'> = {
    set_id: set.id,
    revision: set.revision + 1,
    action: draft.action,
    rolled_back_to: draft.rolledBackTo,
    host: draft.host,
    entries: draft.entries.map(([key, revision]) => [key, revision]),
    added: keysOf(draft.changes, 'new'),
    changed: keysOf(draft.changes, 'changed'),
    removed: keysOf(draft.changes, 'removed'),
    expires_at: draft.expiresAt,
    created_by_key_id: keyId,
    created_at: at,
  };
  await insertValues(db, draft.values);
  await insertRevision(db, {
    ...row,
    entries: JSON.stringify(row.entries),
    added: JSON.stringify(row.added),
    changed: JSON.stringify(row.changed),
    removed: JSON.stringify(row.removed),
    stamp: stampRow(keys.stamp, 'secret_revisions', revisionFields(row)),
  });
  await insertDelivery(db, {
    set_id: set.id,
    revision: row.revision,
    region: set.region,
    state: 'pending',
    error: null,
    host_id: null,
    created_at: at,
    next_at: at,
    done_at: null,
  });
  const revisions = [...set.revisions, row.revision];
  const change = { revision: row.revision, revisions, host: draft.host, updated_at: at };
  const stamp = stampRow(keys.stamp, 'secret_sets', setFields({ ...set, ...change }));
  await changeSet(db, set.id, { ...change, stamp });
  return row.revision;
}
