import { createApiError, type SecretRevision, type SecretSetDetails } from '@bothost/contract';
import { readSnapshot } from '../store/snapshot.ts';
import type { Database } from '../store/tables.ts';
import { findSecretDelivery } from './delivery-rows.ts';
import { decryptRow } from './encrypted-values.ts';
import { mapDamagedDataToFailure, readSecretSet } from './read-set.ts';
import { requireRevisionMac } from './revision-mac.ts';
import { findSecretSet, listRevisionPage } from './rows.ts';
import { toSecretSetFields } from './set-fields.ts';
import { formatFingerprint } from './vault/fingerprint.ts';
import { createCachingKeyring, type Keyring } from './vault/keyring.ts';

type Scope = { readonly organizationId: string };

/** `agentsOf` returns the agents that run with a secret set, and the revision that each of them uses. */
export async function getSecretSet(
  context: { readonly db: Database; readonly keyring: Keyring },
  scope: Scope,
  name: string,
  agentsOf: (setId: string) => Promise<readonly { readonly name: string; readonly revision: number }[]>,
): Promise<SecretSetDetails> {
  const { set, rows } = await readSnapshot(context.db, async (db) => {
    const found = await findSecretSet(db, scope.organizationId, name);
    if (found === undefined) throw createApiError('secret-set-not-found');
    const reading = { db, keyring: createCachingKeyring(context.keyring) };
    const content = await readSecretSet(reading, found);
    if (found.kind !== 'secret') throw createApiError('secret-set-has-no-keys');
    // Decrypt every value, although the response contains none. Decryption authenticates the columns that the response
    // shows, because they are associated data.
    for (const row of content.rows.values()) {
      (await mapDamagedDataToFailure(() => decryptRow(reading, found, row))).fill(0);
    }
    return { set: found, rows: content.rows };
  });
  const delivery = await findSecretDelivery(context.db, set.id, set.revision);
  const agents = await agentsOf(set.id);
  return {
    ...toSecretSetFields(set, { state: delivery?.state ?? 'pending', error: delivery?.error ?? null }),
    source: 'managed',
    secrets: [...rows].map(([fieldName, row]) => ({
      fieldName,
      fingerprint: formatFingerprint(row.fingerprint),
      revision: row.revision,
      updatedAt: row.created_at.toISOString(),
    })),
    agents: agents.map((agent) => ({ ...agent, stale: agent.revision < set.revision })),
  };
}

/** Returns the revisions of a secret set. @throws failure `secret-set-not-found`, `secret-set-damaged` */
export function getSecretHistory(
  context: { readonly db: Database; readonly keyring: Keyring },
  scope: Scope,
  name: string,
  page: { readonly limit: number; readonly before?: number | undefined },
): Promise<{ revisions: SecretRevision[]; nextBefore: number | null }> {
  return readSnapshot(context.db, async (db) => {
    const set = await findSecretSet(db, scope.organizationId, name);
    if (set === undefined) throw createApiError('secret-set-not-found');
    const rows = await listRevisionPage(db, set.id, { limit: page.limit + 1, before: page.before });
    const shown = rows.slice(0, page.limit);
    await mapDamagedDataToFailure(async () => {
      const reading = { db, keyring: createCachingKeyring(context.keyring) };
      for (const row of shown) await requireRevisionMac(reading, set, row);
    });
    const revisions = shown.map((row) => ({
      revision: row.revision,
      current: row.revision === set.revision,
      status: row.state ?? ('pending' as const),
      createdAt: row.created_at.toISOString(),
      createdByKeyId: row.created_by_key_id,
      action: row.action,
      rolledBackTo: row.rolled_back_to,
      added: row.added,
      changed: row.changed,
      removed: row.removed,
    }));
    return { revisions, nextBefore: rows.length > page.limit ? (shown.at(-1)?.revision ?? null) : null };
  });
}
