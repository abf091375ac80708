import {
  failure,
  fillPath,
  type Operations,
  type RequestOf,
  type ResponseOf,
  unusedUploads,
  uploadPath,
  uploadUrlSeconds,
} from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import type { UploadReceiver } from './receive.ts';
import { requireRegion } from './region.ts';
import { countUnusedUploads, requireUpload } from './upload-rows.ts';
import { signUploadToken } from './upload-token.ts';

type Begin = Operations['getBuildUploadUrl'];

/** Where and with which token an archive may be sent; the same upload again for a content that was announced before. @throws failure `region-unknown`, `too-many-uploads` */
export async function beginUpload(
  context: {
    db: Database;
    now: () => Date;
    newId: () => string;
    host: { region: string };
    publicUrl: () => string;
    uploadTokenKey: Buffer;
    uploads: Pick<UploadReceiver, 'settle' | 'receivedBytes'>;
  },
  scope: { organizationId: string },
  wanted: RequestOf<Begin>['body'],
): Promise<ResponseOf<Begin>> {
  requireRegion(context.host, wanted.region);
  const now = context.now();
  if ((await countUnusedUploads(context.db, scope.organizationId)) >= unusedUploads) throw failure('too-many-uploads');
  const upload = await requireUpload(context.db, {
    id: context.newId(),
    organization_id: scope.organizationId,
    region: wanted.region,
    announced: wanted.contentHash !== undefined,
    state: 'open',
    content_hash: wanted.contentHash ?? null,
    context_hash: null,
    size_bytes: wanted.sizeBytes ?? null,
    created_at: now,
    updated_at: now,
  });
  // Content that turned out wrong has been dropped: it is sent anew.
  const settled = await context.uploads.settle(upload).catch(() => upload);
  const expiresAt = new Date((Math.floor(now.getTime() / 1000) + uploadUrlSeconds) * 1000);
  return {
    uploadId: upload.id,
    uploadUrl: `${context.publicUrl()}${fillPath(uploadPath, { uploadId: upload.id })}`,
    uploadFields: { token: signUploadToken(context.uploadTokenKey, upload.id, expiresAt) },
    expiresAt: expiresAt.toISOString(),
    receivedBytes: await context.uploads.receivedBytes(settled),
  };
}
