import { apiErrorDefinitions, type SecretSetListItem } from '@bothost/contract';
import { readSnapshot } from '../store/snapshot.ts';
import type { Database } from '../store/tables.ts';
import { listNewestRevisions, listSecretSetsAndDeliveries } from './list-rows.ts';
import { requireRevisionMac } from './revision-mac.ts';
import type { RevisionRow, SecretSetRow } from './rows.ts';
import { toSecretSetFields } from './set-fields.ts';
import { DamagedDataError } from './vault/damaged-data-error.ts';
import { createCachingKeyring, type Keyring } from './vault/keyring.ts';
import { toPullSecretVerification } from './verify.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };
type ListedRow = Awaited<ReturnType<typeof listSecretSetsAndDeliveries>>[number];

/**
 * Lists the secret sets of an organization by name. A set whose newest revision does not match its MAC is listed as damaged and
 * without details. It is listed whatever the filter is, so that it can be found and deleted.
 */
export function listSecrets(
  context: Context,
  scope: { readonly organizationId: string },
  query: { readonly region?: string | undefined; readonly type?: SecretSetRow['kind'] | undefined },
): Promise<SecretSetListItem[]> {
  return readSnapshot(context.db, async (db) => {
    const reading = { db, keyring: createCachingKeyring(context.keyring) };
    const newest = await listNewestRevisions(db, scope.organizationId);
    const items: SecretSetListItem[] = [];
    for (const set of await listSecretSetsAndDeliveries(db, scope.organizationId)) {
      const item = await itemOf(reading, set, newest.get(set.id));
      const matches =
        (query.region === undefined || item.region === query.region) &&
        (query.type === undefined || item.type === query.type);
      if (matches || item.damaged === true) items.push(item);
    }
    return items;
  });
}

async function itemOf(context: Context, set: ListedRow, newest: RevisionRow | undefined): Promise<SecretSetListItem> {
  try {
    if (newest === undefined) return damagedItem(set);
    await requireRevisionMac(context, set, newest);
    return {
      ...toSecretSetFields(set, { state: set.state ?? 'pending', error: set.error }),
      keyCount: newest.entries.length,
      host: newest.host,
      expiresAt: newest.expires_at?.toISOString() ?? null,
      verification: verificationOf(set),
    };
  } catch (error) {
    if (!(error instanceof DamagedDataError)) throw error;
    return damagedItem(set);
  }
}

/** Returns the list item of a damaged set, with placeholder values that satisfy the schema of the response. */
function damagedItem({ name, kind, region, revision }: SecretSetRow): SecretSetListItem {
  const never = new Date(0).toISOString();
  return {
    name,
    type: kind,
    region,
    status: 'failed',
    errorMessage: apiErrorDefinitions['secret-set-damaged'].message,
    damaged: true,
    revision,
    createdAt: never,
    updatedAt: never,
    keyCount: 0,
    host: null,
    expiresAt: null,
    verification: null,
  };
}

function verificationOf({ result, message, image, checked_at }: ListedRow) {
  if (result === null || message === null || checked_at === null) return null;
  return toPullSecretVerification({ result, message, image, checked_at });
}
