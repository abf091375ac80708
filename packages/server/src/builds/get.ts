import { createApiError, type Operations, type ResponseOf } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { toBuildResponse } from './build-response.ts';
import { findBuildRow } from './rows.ts';

/** Returns a build. @throws failure `build-not-found`, also for another organization's build */
export async function getBuild(
  context: { db: Database },
  scope: { organizationId: string; serviceUrl: string },
  buildId: string,
): Promise<ResponseOf<Operations['getBuild']>> {
  const row = await findBuildRow(context.db, scope.organizationId, buildId);
  if (row === undefined) throw createApiError('build-not-found');
  return { build: toBuildResponse(row, scope.serviceUrl) };
}
