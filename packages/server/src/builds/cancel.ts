import { createApiError, type Operations, type ResponseOf } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import type { BuildOutcome } from './attempt.ts';
import type { BuildLogNotifier } from './build-log-notifier.ts';
import { toBuildResponse } from './build-response.ts';
import { cancelUnfinishedBuild, findBuildRow } from './rows.ts';

export const canceledBuildOutcome = {
  state: 'canceled',
  errorCode: 'build-canceled',
  error: 'The build was canceled.',
} as const satisfies BuildOutcome;

/**
 * Cancels a build. A waiting build ends immediately; a running build ends when its server has stopped it, unless it
 * succeeds or fails before that. Idempotent.
 *
 * @throws failure `build-not-found` (also for another organization's build), `build-ended`
 */
export async function cancelBuild(
  context: { db: Database; now: () => Date; buildLogs: BuildLogNotifier },
  scope: Actor & { readonly organizationId: string; readonly serviceUrl: string },
  buildId: string,
): Promise<ResponseOf<Operations['cancelBuild']>> {
  const { organizationId } = scope;
  const row = await context.db.transaction().execute(async (db) => {
    const found = await findBuildRow(db, organizationId, buildId);
    if (found === undefined) throw createApiError('build-not-found');
    const outcome = { error_code: canceledBuildOutcome.errorCode, error: canceledBuildOutcome.error };
    const at = context.now();
    const changed = await cancelUnfinishedBuild(db, { organizationId, id: found.id }, outcome, at);
    const row = changed ?? (await findBuildRow(db, organizationId, found.id));
    if (row === undefined) throw createApiError('build-not-found');
    if (changed === undefined && row.state !== 'canceled') throw createApiError('build-ended');
    await appendAudit(db, organizationId, {
      ...organizationEventFields,
      action: 'builds.cancel',
      object: row.id,
      region: row.region,
      actor: scope,
      at,
      result: changed === undefined ? 'unchanged' : 'done',
    });
    return row;
  });
  context.buildLogs.notify(buildId);
  return { build: toBuildResponse(row, scope.serviceUrl) };
}
