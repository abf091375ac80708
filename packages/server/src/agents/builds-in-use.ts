import type { Database } from '../store/tables.ts';
import { listBuildIdsInUse } from './deployment-rows.ts';

/** Number of latest deployments per agent that can be rolled back to. Their builds are kept. */
const keptDeployments = 10;

/**
 * Number of latest deployments per agent whose builds are repeated after a restore: the serving one and the one before
 * it.
 */
const repeatedDeployments = 2;

/** Returns which of the builds are used by a desired, serving or recent deployment, or by a running instance. */
export async function buildsInUse(db: Database, buildIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await listBuildIdsInUse(db, buildIds, keptDeployments));
}

/** Returns which of the builds belong to a serving, desired or previously serving deployment of an agent. */
export async function findRecentlyServingBuilds(
  db: Database,
  buildIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await listBuildIdsInUse(db, buildIds, repeatedDeployments));
}
