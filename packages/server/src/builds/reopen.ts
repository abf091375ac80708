import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';
import type { BuildUseLookup } from './retention.ts';
import { listSuccessfulBuilds, markRemoving } from './rows.ts';

/**
 * Runs after a restore, because the restored database refers to prepared projects that were lost. Queues builds that are in use
 * and interrupted builds of a region again. Marks unused successful builds for removal.
 */
export async function reopenBuilds(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  region: string,
  inUse: BuildUseLookup,
): Promise<void> {
  const ids = await listSuccessfulBuilds(db, region);
  const used = await inUse(db, ids);
  await markRemoving(
    db,
    ids.filter((id) => !used.has(id)),
  );
  await sql`update builds set state = 'pending', prepared = null, completed_at = null, cancel_requested_at = null,
      unfinished_attempts = 0, updated_at = ${now()}
    where region = ${region} and not removing and (id = any(${[...used]}::uuid[]) or state = 'building')`.execute(db);
}
