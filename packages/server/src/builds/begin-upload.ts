import {
  createApiError,
  fillPathTemplate,
  maxUnusedUploads,
  type Operations,
  type RequestOf,
  type ResponseOf,
  uploadUrlLifetimeSeconds,
  uploadUrlPathTemplate,
} from '@bothost/contract';
import type { StoreContext } from '../store/store-context.ts';
import type { DiskSpaceGuard } from './disk-space.ts';
import type { UploadReceiver } from './receive.ts';
import { type BuildRegion, requireBuildRegion } from './region.ts';
import { countUnusedUploads, requireUpload } from './upload-rows.ts';
import { signUploadToken } from './upload-token.ts';

type GetBuildUploadUrl = Operations['getBuildUploadUrl'];

/**
 * Returns the URL and the token for uploading an archive. If the same content was announced before, returns the
 * existing upload.
 *
 * @throws failure `region-unknown`, `not-supported`, `too-many-uploads`, `storage-full`, `organization-storage-full`
 */
export async function beginUpload(
  context: Pick<StoreContext, 'db' | 'now' | 'newId'> & {
    host: BuildRegion;
    uploadTokenKey: Buffer;
    disk: Pick<DiskSpaceGuard, 'requireFor'>;
    uploads: Pick<UploadReceiver, 'settle' | 'receivedBytes'>;
  },
  scope: { organizationId: string; serviceUrl: string },
  request: RequestOf<GetBuildUploadUrl>['body'],
): Promise<ResponseOf<GetBuildUploadUrl>> {
  requireBuildRegion(context.host, request.region);
  const now = context.now();
  if ((await countUnusedUploads(context.db, scope.organizationId)) >= maxUnusedUploads)
    throw createApiError('too-many-uploads');
  await context.disk.requireFor(scope.organizationId, request.sizeBytes ?? 0);
  const upload = await requireUpload(context.db, {
    id: context.newId(),
    organization_id: scope.organizationId,
    region: request.region,
    announced: request.contentHash !== undefined,
    state: 'open',
    content_hash: request.contentHash ?? null,
    context_hash: null,
    size_bytes: request.sizeBytes ?? null,
    created_at: now,
    updated_at: now,
  });
  // If the bytes that were uploaded earlier do not match the announced hash, `settle` deletes them, and the client
  // uploads the archive again.
  const settled = await context.uploads.settle(upload).catch(() => upload);
  const expiresAt = new Date((Math.floor(now.getTime() / 1000) + uploadUrlLifetimeSeconds) * 1000);
  return {
    uploadId: upload.id,
    uploadUrl: `${scope.serviceUrl}${fillPathTemplate(uploadUrlPathTemplate, { uploadId: upload.id })}`,
    uploadFields: { token: signUploadToken(context.uploadTokenKey, upload.id, expiresAt) },
    expiresAt: expiresAt.toISOString(),
    receivedBytes: await context.uploads.receivedBytes(settled),
  };
}
