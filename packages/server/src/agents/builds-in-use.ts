import type { Database } from '../store/tables.ts';
import { buildIdsInUse } from './deployment-rows.ts';

/** Number of latest deployments of an agent that rollback can always use. */
const keptDeployments = 10;

/** Number of latest deployments of an agent whose builds are repeated after a restore: the serving one and the one before it. */
const repeatedDeployments = 2;

/**
 * The builds among these that are in use: by desired, serving or recent deployments, or by instances that have not ended.
 */
export async function buildsInUse(db: Database, buildIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await buildIdsInUse(db, buildIds, keptDeployments));
}

/** The builds among these of deployments that serve, will serve, or would serve after a rollback. */
export async function buildsServingLately(db: Database, buildIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await buildIdsInUse(db, buildIds, repeatedDeployments));
}
