import type { Database } from '../store/tables.ts';
import { buildIdsInUse } from './deployment-rows.ts';

/** Number of latest deployments of an agent that rollback can always use. */
const keptDeployments = 10;

/**
 * The builds among these that are in use: by desired, serving or recent deployments, or by instances that have not ended.
 */
export async function buildsInUse(db: Database, buildIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await buildIdsInUse(db, buildIds, keptDeployments));
}
