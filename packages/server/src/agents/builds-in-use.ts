import type { Database } from '../store/tables.ts';
import { listBuildIdsInUse } from './deployment-rows.ts';

/**
 * Number of latest deployments per agent whose builds are kept, so that the agent can be rolled back to these
 * deployments.
 */
const keptDeployments = 10;

/**
 * Number of latest deployments per agent whose builds are prepared again after the server was restored from a backup. These
 * deployments are usually the serving and the previously serving deployment.
 */
const repeatedDeployments = 2;

/**
 * Returns the ids in `buildIds` whose build is used by a desired, serving or recent deployment, or by a running
 * instance.
 */
export async function findBuildsInUse(db: Database, buildIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await listBuildIdsInUse(db, buildIds, keptDeployments));
}

/**
 * Returns the ids in `buildIds` whose build is used by a desired or serving deployment, by one of the two latest
 * deployments of an agent, or by a running instance.
 */
export async function findRecentlyServingBuilds(
  db: Database,
  buildIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await listBuildIdsInUse(db, buildIds, repeatedDeployments));
}
