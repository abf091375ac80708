import { failure, type SecretRevision, type SecretSetDetails, type SecretSetListItem } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import type { CheckRow } from './check-rows.ts';
import { findDelivery } from './delivery-rows.ts';
import { readSet } from './read-set.ts';
import { findSet, pageOfRevisions, type SecretSetRow, setsWithDelivery } from './rows.ts';
import { inSnapshot } from './snapshot.ts';
import { shownFingerprint } from './vault/fingerprint.ts';
import type { Keyring } from './vault/keyring.ts';
import { shownCheck } from './verify.ts';

type Scope = { readonly organizationId: string };

export async function listSecrets(
  context: { readonly db: Database },
  scope: Scope,
  query: { readonly region?: string | undefined; readonly type?: SecretSetRow['kind'] | undefined },
): Promise<SecretSetListItem[]> {
  const rows = await setsWithDelivery(context.db, scope.organizationId, { region: query.region, kind: query.type });
  return rows.map((row) => ({
    ...fieldsOf(row, row),
    keyCount: row.key_count,
    host: row.host,
    expiresAt: row.expires_at?.toISOString() ?? null,
    verification: verificationOf(row),
  }));
}

/** `agentsOf` names the agents that run with a set, and the revision that each runs with. */
export async function getSecretSet(
  context: { readonly db: Database; readonly keyring: Keyring },
  scope: Scope,
  name: string,
  agentsOf: (setId: string) => Promise<readonly { readonly name: string; readonly revision: number }[]>,
): Promise<SecretSetDetails> {
  const { set, rows } = await inSnapshot(context.db, async (db) => {
    const found = await findSet(db, scope.organizationId, name);
    if (found === undefined) throw failure('secret-set-not-found');
    if (found.kind !== 'secret') throw failure('secret-set-has-no-keys');
    return { set: found, rows: (await readSet({ ...context, db }, found)).rows };
  });
  const delivery = await findDelivery(context.db, set.id, set.revision);
  const agents = await agentsOf(set.id);
  return {
    ...fieldsOf(set, { state: delivery?.state ?? 'pending', error: delivery?.error ?? null }),
    source: 'managed',
    secrets: [...rows].map(([fieldName, row]) => ({
      fieldName,
      fingerprint: shownFingerprint(row.fingerprint),
      revision: row.revision,
      updatedAt: row.created_at.toISOString(),
    })),
    agents: agents.map((agent) => ({ ...agent, stale: agent.revision < set.revision })),
  };
}

export async function secretHistory(
  context: { readonly db: Database },
  scope: Scope,
  name: string,
  page: { readonly limit: number; readonly before?: number | undefined },
): Promise<{ revisions: SecretRevision[]; nextBefore: number | null }> {
  const set = await findSet(context.db, scope.organizationId, name);
  if (set === undefined) throw failure('secret-set-not-found');
  const rows = await pageOfRevisions(context.db, set.id, { limit: page.limit + 1, before: page.before });
  const shown = rows.slice(0, page.limit);
  const revisions = shown.map((row) => ({
    revision: row.revision,
    current: row.revision === set.revision,
    status: row.state,
    createdAt: row.created_at.toISOString(),
    createdByKeyId: row.created_by_key_id,
    action: row.action,
    rolledBackTo: row.rolled_back_to,
    added: row.added,
    changed: row.changed,
    removed: row.removed,
  }));
  return { revisions, nextBefore: rows.length > page.limit ? (shown.at(-1)?.revision ?? null) : null };
}

/** All or none of the columns are there. */
function verificationOf(row: { [Name in keyof CheckRow]?: CheckRow[Name] | null }) {
  const { result, message, image = null, checked_at } = row;
  return result && message && checked_at ? shownCheck({ result, message, image, checked_at }) : null;
}

function fieldsOf(
  set: SecretSetRow,
  delivery: { readonly state: 'pending' | 'ready' | 'failed'; readonly error: string | null },
) {
  return {
    name: set.name,
    type: set.kind,
    region: set.region,
    status: delivery.state,
    ...(delivery.error === null ? {} : { errorMessage: delivery.error }),
    revision: set.revision,
    createdAt: set.created_at.toISOString(),
    updatedAt: set.updated_at.toISOString(),
  };
}
