import { failures, type SecretSetListItem } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { newestRevisionRows, revisionsOfSets, setsWithDelivery } from './list-rows.ts';
import { type LoggedRevision, loggedRevisions } from './logged-rows.ts';
import { requireLogged, requireRevisionStamp, requireRevisions, requireSetStamp } from './open-set.ts';
import type { RevisionRow, SecretSetRow } from './rows.ts';
import { fieldsOf } from './set-fields.ts';
import { inSnapshot } from './snapshot.ts';
import { trueCheck } from './stamped-check.ts';
import { DamagedError, isDamage } from './vault/damaged.ts';
import { type Keyring, lookedUpOnce } from './vault/keyring.ts';
import { shownCheck } from './verify.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };
/** What is there of a set beside its row. */
type Stored = {
  readonly revisions: readonly number[];
  readonly newest: RevisionRow | undefined;
  readonly logged: LoggedRevision | undefined;
};
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
    const logged = await loggedRevisions(db, scope.organizationId, null);
    const items: SecretSetListItem[] = [];
    for (const set of sets) {
      const stored = { revisions: revisions.get(set.id) ?? [], newest: newest.get(set.id), logged: logged.get(set.id) };
      const item = await itemOf(reading, set, stored);
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
  { revisions, newest, logged }: Stored,
): Promise<SecretSetListItem> {
  try {
    await requireSetStamp(context, set);
    requireRevisions(set, revisions);
    requireLogged(set, logged);
    if (newest === undefined) throw new DamagedError('the newest revision is missing');
    await requireRevisionStamp(context, set, newest);
    return {
      ...fieldsOf(set, { state: set.state ?? 'pending', error: set.error }),
      keyCount: newest.entries.length,
      host: set.host,
      expiresAt: newest.expires_at?.toISOString() ?? null,
      verification: await verificationOf(context, set),
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
async function verificationOf(context: Context, set: ListedRow) {
  const { id: set_id, revision, result, message, image, checked_at, check_stamp: stamp } = set;
  if (result === null || message === null || checked_at === null || stamp === null) return null;
  const check = await trueCheck(context, set, { set_id, revision, result, message, image, checked_at, stamp });
  return check === null ? null : shownCheck(check);
}
