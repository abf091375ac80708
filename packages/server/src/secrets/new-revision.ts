import type { Database } from '../store/tables.ts';
import { listKeysWithChangeKind, type SecretSetKeyChange, type SecretSetKeyRevision } from './change.ts';
import { insertDelivery } from './delivery-rows.ts';
import { type CurrentKeysOfOrganization, encryptToRow } from './encrypted-values.ts';
import { computeRevisionMac } from './revision-mac.ts';
import {
  insertRevision,
  insertSecretSetRow,
  insertValues,
  type RevisionRow,
  type SecretSetRow,
  updateSecretSetRow,
} from './rows.ts';

export type RevisionDraft = {
  readonly action: RevisionRow['action'];
  readonly rolledBackTo: number | null;
  readonly host: string | null;
  readonly expiresAt: Date | null;
  readonly entries: readonly SecretSetKeyRevision[];
  readonly changes: readonly SecretSetKeyChange[];
  readonly values: ReadonlyMap<string, Buffer>;
};

/** Stores the next revision and its delivery, and returns its number. The set must be locked or new (revision 0). */
export async function storeRevision(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  set: SecretSetRow,
  keyId: string | null,
  keys: CurrentKeysOfOrganization,
  draft: RevisionDraft,
): Promise<number> {
  const at = now();
  const revision = set.revision + 1;
  if (set.revision === 0) await insertSecretSetRow(db, { ...set, revision });
  else await updateSecretSetRow(db, set.id, { revision, updated_at: at });
  const values = [...draft.values].map(([key, value]) =>
    encryptToRow(keys, set, { key, revision, createdAt: at }, value),
  );
  await insertValues(db, values);
  const bound = {
    revision,
    host: draft.host,
    expires_at: draft.expiresAt,
    entries: draft.entries.map(([key, written]): [string, number] => [key, written]),
  };
  await insertRevision(db, {
    ...bound,
    set_id: set.id,
    action: draft.action,
    rolled_back_to: draft.rolledBackTo,
    entries: JSON.stringify(bound.entries),
    added: JSON.stringify(listKeysWithChangeKind(draft.changes, 'new')),
    changed: JSON.stringify(listKeysWithChangeKind(draft.changes, 'changed')),
    removed: JSON.stringify(listKeysWithChangeKind(draft.changes, 'removed')),
    created_by_key_id: keyId,
    created_at: at,
    mac: computeRevisionMac(keys.mac, set, bound),
  });
  await insertDelivery(db, {
    set_id: set.id,
    revision,
    region: set.region,
    state: 'pending',
    error: null,
    host_id: null,
    created_at: at,
    next_at: at,
    done_at: null,
  });
  return revision;
}
