import { failures, type SecretSetListItem } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import type { CheckRow } from './check-rows.ts';
import { newestRevisionRows, revisionsOfSets, setsWithDelivery } from './list-rows.ts';
import { requireRevisionStamp, requireRevisions, requireSetStamp } from './open-set.ts';
import type { RevisionRow, SecretSetRow } from './rows.ts';
import { fieldsOf } from './set-fields.ts';
import { inSnapshot } from './snapshot.ts';
import { DamagedError, isDamage } from './vault/damaged.ts';
import { type Keyring, lookedUpOnce } from './vault/keyring.ts';
import { shownCheck } from './verify.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };
type ListedRow = Awaited<ReturnType<typeof setsWithDelivery>>[number];

/**
 * The sets of an organization, by name. Each is held to what was written. One that is another has only its name, which may be
 * another one too, and is there whatever is asked for: somebody has to delete it.
 */
export function listSecrets(
  context: Context,
  scope: { readonly organizationId: string },
  query: { readonly region?: string | undefined; readonly type?: SecretSetRow['kind'] | undefined },
): Promise<SecretSetListItem[]> {
  return inSnapshot(context.db, async (db) => {
    const reading = { db, keyring: lookedUpOnce(context.keyring) };
    const sets = await setsWithDelivery(db, scope.organizationId);
    const newest = await newestRevisionRows(db, scope.organizationId);
    const revisions = await revisionsOfSets(db, scope.organizationId);
    const items: SecretSetListItem[] = [];
    for (const set of sets) {
      const item = await itemOf(reading, set, revisions.get(set.id) ?? [], newest.get(set.id));
      const isAskedFor =
        (query.region === undefined || item.region === query.region) &&
        (query.type === undefined || item.type === query.type);
      if (isAskedFor || item.damaged === true) items.push(item);
    }
    return items;
  });
}

async function itemOf(
  context: Context,
  set: ListedRow,
  revisions: readonly number[],
  newest: RevisionRow | undefined,
): Promise<SecretSetListItem> {
  try {
    await requireSetStamp(context, set);
    requireRevisions(set, revisions);
    if (newest === undefined) throw new DamagedError('the newest revision is missing');
    await requireRevisionStamp(context, set, newest);
    return {
      ...fieldsOf(set, { state: set.state ?? 'pending', error: set.error }),
      keyCount: newest.entries.length,
      host: set.host,
      expiresAt: newest.expires_at?.toISOString() ?? null,
      verification: verificationOf(set),
    };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return damagedItem(set);
  }
}

/** Nothing of it can be believed, so nothing but its name is told. The other fields are what clients can read. */
function damagedItem({ name, kind, region, revision }: SecretSetRow): SecretSetListItem {
  const never = new Date(0).toISOString();
  return {
    name,
    type: kind === 'imagePullSecret' ? kind : 'secret',
    region,
    status: 'failed',
    errorMessage: failures['secret-set-damaged'].message,
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

/** All or none of the columns are there. */
function verificationOf(row: { [Name in keyof CheckRow]?: CheckRow[Name] | null }) {
  const { result, message, image = null, checked_at } = row;
  return result && message && checked_at ? shownCheck({ result, message, image, checked_at }) : null;
}
