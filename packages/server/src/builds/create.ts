import { createApiError, type Operations, type RequestOf, type ResponseOf } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Database } from '../store/tables.ts';
import { toBuildResponse } from './build-response.ts';
import type { DiskSpaceGuard } from './disk-space.ts';
import type { UploadReceiver } from './receive.ts';
import { type BuildRegion, requireBuildRegion } from './region.ts';
import { type BuildRow, insertBuild, reuseBuildByContent } from './rows.ts';
import { findUpload, markUploadUsed } from './upload-rows.ts';

type CreateBuild = Operations['createBuild'];

/**
 * Returns the successful or unfinished build of an upload's content, or creates a new build. Content whose build failed
 * is built again.
 *
 * @throws failure `region-unknown`, `not-supported`, `upload-not-found`, `upload-incomplete`, `storage-full`,
 * `organization-storage-full`
 */
export async function createBuild(
  context: Pick<StoreContext, 'db' | 'now' | 'newId'> & {
    host: BuildRegion;
    uploads: Pick<UploadReceiver, 'settle'>;
    disk: Pick<DiskSpaceGuard, 'requireFor'>;
  },
  scope: Actor & { readonly organizationId: string; readonly serviceUrl: string },
  request: RequestOf<CreateBuild>['body'],
): Promise<ResponseOf<CreateBuild>> {
  requireBuildRegion(context.host, request.region);
  const found = await findUpload(context.db, request.uploadId);
  if (found === undefined || found.organization_id !== scope.organizationId || found.region !== request.region) {
    throw createApiError('upload-not-found');
  }
  const upload = await context.uploads.settle(found);
  const { content_hash: contentHash, context_hash: contextHash, size_bytes: size } = upload;
  if (upload.state !== 'complete' || contentHash === null || contextHash === null || size === null) {
    throw createApiError('upload-incomplete');
  }
  const now = context.now();
  const content = { organization_id: scope.organizationId, region: request.region, content_hash: contentHash };
  const row = await requireBuild(context, scope, now, {
    ...content,
    id: context.newId(),
    upload_id: upload.id,
    context_hash: contextHash,
    size_bytes: size,
    dockerfile_path: request.dockerfilePath ?? 'Dockerfile',
    state: 'pending',
    error_code: null,
    error: null,
    prepared: null,
    created_at: now,
    updated_at: now,
    started_at: null,
    completed_at: null,
    used_at: now,
  });
  return {
    build: toBuildResponse(row, scope.serviceUrl),
    contextHash: row.context_hash,
    cached: row.state === 'success',
  };
}

async function requireBuild(
  { db, disk }: { db: Database; disk: Pick<DiskSpaceGuard, 'requireFor'> },
  actor: Actor,
  now: Date,
  build: Parameters<typeof insertBuild>[1],
): Promise<BuildRow> {
  // `insertBuild` returns undefined if a concurrent request has just created the build. Try again then, to use that build.
  for (;;) {
    const row = await db.transaction().execute(async (transaction) => {
      // Mark the upload as used first, so that its archive is not removed.
      if (!(await markUploadUsed(transaction, build.upload_id, now))) throw createApiError('upload-not-found');
      const existing = await reuseBuildByContent(transaction, build, now);
      if (existing === undefined) await disk.requireFor(build.organization_id, 0);
      const result = existing ?? (await insertBuild(transaction, build));
      if (result !== undefined) {
        await appendAudit(transaction, build.organization_id, {
          ...organizationEventFields,
          action: 'builds.create',
          object: result.id,
          region: build.region,
          actor,
          at: now,
          result: existing === undefined ? 'done' : 'unchanged',
        });
      }
      return result;
    });
    if (row !== undefined) return row;
  }
}
