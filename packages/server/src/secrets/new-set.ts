import { failure, secretSetsPerOrganization } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { countSets, findSet, insertSet, lockNewSets, type SecretSetRow } from './rows.ts';

/**
 * Makes a set at revision 0, which its first revision has to follow in the same transaction; or finds the one that somebody
 * else made meanwhile, at its own revision. Either is locked.
 *
 * @throws failure `secret-sets-too-many`
 */
export async function makeSet(
  context: { readonly db: Database; readonly now: () => Date; readonly newId: () => string },
  set: Pick<SecretSetRow, 'organization_id' | 'name' | 'kind' | 'region'>,
): Promise<SecretSetRow> {
  const { db } = context;
  await lockNewSets(db, set.organization_id);
  const found = await findSet(db, set.organization_id, set.name, 'update');
  if (found !== undefined) return found;
  if ((await countSets(db, set.organization_id)) >= secretSetsPerOrganization) {
    const message = `The organization has ${secretSetsPerOrganization} secret sets, which is as many as it may.`;
    throw failure('secret-sets-too-many', { message });
  }
  const at = context.now();
  const row = {
    ...set,
    id: context.newId(),
    host: null,
    revision: 0,
    revisions: [],
    stamp: Buffer.alloc(0),
    created_at: at,
    updated_at: at,
  };
  await insertSet(db, row);
  return row;
}
