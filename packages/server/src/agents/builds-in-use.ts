import type { Database } from '../store/tables.ts';
import { buildIdsInUse } from './deployment-rows.ts';

/** Deployments of an agent to which it can always be rolled back. */
const keptDeployments = 10;

/**
 * Which of these builds must stay: what an agent wants or serves, its last deployments, and what an instance runs on that
 * has not ended.
 */
export async function buildsInUse(db: Database, buildIds: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(buildIds.length === 0 ? [] : await buildIdsInUse(db, buildIds, keptDeployments));
}
