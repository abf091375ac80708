import type { Database } from '../store/tables.ts';
import { listBuildIdsInUse } from './deployment-rows.ts';

/** Latest deployments per agent whose builds are kept for a rollback. */
const keptDeployments = 10;

/**
 * Number of latest deployments per agent whose builds are prepared again after the server was restored from a backup. These
 * deployments are usually the serving and the previously serving deployment.
 */
const repeatedDeployments = 2;

/** The builds that a desired, serving or recent deployment, or a running instance, uses. */
export async function findBuildsInUse(db: Database, buildIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await listBuildIdsInUse(db, buildIds, keptDeployments));
}

/** The builds of desired or serving deployments, of an agent's two latest deployments, and of running instances. */
export async function findRecentlyServingBuilds(
  db: Database,
  buildIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await listBuildIdsInUse(db, buildIds, repeatedDeployments));
}
