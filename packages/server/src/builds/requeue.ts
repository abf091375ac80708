import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';
import type { BuildUseLookup } from './retention.ts';
import { listSuccessfulBuilds, markBuildsForRemoval } from './rows.ts';

/**
 * Queues builds of a region again after a restore from a backup, because their prepared projects were lost. This applies to
 * builds that were interrupted and to successful builds that are in use. Marks unused successful builds for removal.
 */
export async function requeueBuildsAfterRestore(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  region: string,
  inUse: BuildUseLookup,
): Promise<void> {
  const ids = await listSuccessfulBuilds(db, region);
  const used = await inUse(db, ids);
  await markBuildsForRemoval(
    db,
    ids.filter((id) => !used.has(id)),
  );
  await sql`update builds set state = 'pending', prepared = null, completed_at = null, cancel_requested_at = null,
      unfinished_attempts = 0, updated_at = ${now()}
    where region = ${region} and not removing and (id = any(${[...used]}::uuid[]) or state = 'building')`.execute(db);
}
