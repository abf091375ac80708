import type { Build } from '@bothost/contract';
import type { BuildRow } from './rows.ts';

/** Formats a build. Its image fields are null, because the runtime prepares the project without a container image. */
export function toBuildResponse(row: BuildRow, serviceUrl: string): Build {
  const { started_at: startedAt, completed_at: completedAt } = row;
  return {
    id: row.id,
    organizationId: row.organization_id,
    status: row.state,
    region: row.region,
    contextHash: row.context_hash,
    contentHash: row.content_hash,
    dockerfilePath: row.dockerfile_path,
    imageUri: null,
    logsUrl: `${serviceUrl}/v1/builds/${row.id}/logs`,
    errorMessage: row.error,
    errorCode: row.error_code,
    contextSizeBytes: row.size_bytes,
    imageSizeBytes: null,
    buildDurationSeconds:
      startedAt === null || completedAt === null
        ? null
        : Math.round((completedAt.getTime() - startedAt.getTime()) / 100) / 10,
    startedAt: startedAt?.toISOString() ?? null,
    completedAt: completedAt?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}
