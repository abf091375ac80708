import type { Database } from '../store/tables.ts';
import { buildIdsInUse } from './deployment-rows.ts';

/** Rollback works for this number of latest deployments of an agent; their builds are kept. */
const keptDeployments = 10;

/**
 * After a restore, builds are repeated for this number of latest deployments of an agent: the serving one and its
 * predecessor.
 */
const repeatedDeployments = 2;

/**
 * Returns which of the given builds are in use: by a desired, serving or recent deployment, or by an instance that has
 * not ended.
 */
export async function buildsInUse(db: Database, buildIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await buildIdsInUse(db, buildIds, keptDeployments));
}

/**
 * Returns which of the given builds belong to deployments that are serving or desired, or that a rollback would
 * restore.
 */
export async function buildsServingLately(db: Database, buildIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await buildIdsInUse(db, buildIds, repeatedDeployments));
}
