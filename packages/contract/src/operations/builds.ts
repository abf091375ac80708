import { z } from 'zod';
import { editors, everyone } from '../authorization.ts';
import { buildLogLongPollSeconds, buildsPerPage, linesPerBuildLogPage, maxUploadBytes } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { buildStatusLabels, listStatusValues } from '../statuses.ts';
import { IsoDateTime, requestWithBody, requestWithoutBody, Uuid } from './fields.ts';

const Status = z.enum(listStatusValues(buildStatusLabels));

/** A build prepares an uploaded project so that it can run, for example by installing its packages. */
export const Build = z
  .object({
    id: Uuid,
    organizationId: Uuid,
    status: Status,
    region: z.string(),
    contextHash: z
      .string()
      .describe('First 16 hexadecimal digits of the MD5 of the archive, which existing clients compute'),
    contentHash: z
      .string()
      .describe('SHA-256 of the tar.gz archive, or of the tar archive in it, in hexadecimal; identifies the build'),
    dockerfilePath: z.string(),
    imageUri: z.string().nullable(),
    logsUrl: z.string().nullable(),
    errorMessage: z.string().nullable().describe('Why it failed, for people'),
    errorCode: z.string().nullable().describe('The reason as a stable identifier, such as archive-absolute-path'),
    contextSizeBytes: z.number().int(),
    imageSizeBytes: z.number().int().nullable(),
    buildDurationSeconds: z.number().nullable(),
    startedAt: IsoDateTime.nullable(),
    completedAt: IsoDateTime.nullable(),
    createdAt: IsoDateTime,
    updatedAt: IsoDateTime,
  })
  .meta({ id: 'Build' });
export type Build = z.infer<typeof Build>;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in hexadecimal');

const buildOperation = { tag: 'builds', key: 'private' } as const;

/**
 * Returns the URL for an archive (tar.gz), which accepts:
 * - `POST` with `multipart/form-data`: all `uploadFields`, then the archive as `file`.
 * - `PATCH` with the headers `Upload-Token` (`uploadFields.token`) and `Upload-Offset`: appends the bytes from that offset on.
 *   Works only if the request for the URL contained `contentHash` and `sizeBytes`. A wrong offset is rejected with 409
 *   `upload-offset-wrong`.
 * - `HEAD` with `Upload-Token`: returns `Upload-Offset` and `Upload-Length`.
 * A second request for the same content returns the same upload. Nothing needs to be sent if `receivedBytes` is `sizeBytes`.
 */
export const getBuildUploadUrl = defineOperation({
  ...requestWithBody,
  ...buildOperation,
  name: 'getBuildUploadUrl',
  summary: 'Get a URL to upload an archive to',
  grantees: editors,
  path: '/builds/upload-url',
  body: z
    .object({
      region: z.string(),
      contentHash: sha256
        .optional()
        .describe(
          'SHA-256 of the tar.gz archive, or of the tar archive in it, in hexadecimal; makes the upload resumable',
        ),
      sizeBytes: z.number().int().min(1).max(maxUploadBytes).optional().describe('Size of the archive'),
    })
    .refine(({ contentHash, sizeBytes }) => (contentHash === undefined) === (sizeBytes === undefined), {
      message: 'contentHash and sizeBytes must be given together',
      path: ['sizeBytes'],
    }),
  response: z.object({
    uploadId: Uuid,
    uploadUrl: z.string(),
    uploadFields: z.object({ token: z.string().describe('Authorizes this upload until expiresAt') }),
    expiresAt: IsoDateTime,
    receivedBytes: z.number().int().describe('Bytes that were received before'),
  }),
  errors: [
    'invalid-request',
    'region-unknown',
    'not-supported',
    'too-many-uploads',
    'storage-full',
    'organization-storage-full',
  ],
});

/** The path of the upload URL. It is not an operation, because its bodies are not JSON. */
export const uploadUrlPathTemplate = '/uploads/{uploadId}';

/** The response of the upload URL to `POST` and `PATCH`. */
export const ArchiveUploadResponse = z.object({
  uploadId: Uuid,
  receivedBytes: z.number().int(),
  complete: z.boolean(),
});
export type ArchiveUploadResponse = z.infer<typeof ArchiveUploadResponse>;

/** One build per organization, region and content hash. Responds with 200 and `cached` if it has succeeded. */
export const createBuild = defineOperation({
  ...requestWithBody,
  ...buildOperation,
  name: 'createBuild',
  summary: 'Build an uploaded archive',
  audit: 'builds.create',
  grantees: editors,
  path: '/builds',
  body: z.object({
    uploadId: z.string(),
    region: z.string(),
    dockerfilePath: z.string().max(500).nullish().describe('Stored but not used, because the region builds no images'),
  }),
  status: 201,
  other: { status: 200, when: ({ cached }) => cached },
  response: z.object({
    build: Build,
    contextHash: z.string(),
    cached: z.boolean().describe('Whether a build of this content has succeeded before'),
  }),
  errors: [
    'invalid-request',
    'region-unknown',
    'not-supported',
    'upload-not-found',
    'upload-incomplete',
    'upload-content-wrong',
    'storage-full',
    'organization-storage-full',
  ],
});

export const listBuilds = defineOperation({
  ...requestWithoutBody,
  ...buildOperation,
  name: 'listBuilds',
  summary: 'List the builds of the organization, newest first',
  grantees: everyone,
  path: '/builds',
  query: z.object({
    status: Status.optional(),
    region: z.string().optional(),
    contextHash: z.string().optional(),
    contentHash: z.string().optional(),
    dockerfilePath: z.string().optional(),
    limit: z.coerce.number<number>().int().min(1).max(buildsPerPage.maximum).default(buildsPerPage.default),
    offset: z.coerce.number<number>().int().min(0).max(2_147_483_647).default(0),
    cursor: z.string().optional().describe('nextCursor of the previous page; offset is ignored then'),
  }),
  response: z.object({
    builds: z.array(Build),
    total: z.number().int(),
    limit: z.number().int(),
    offset: z.number().int(),
    nextCursor: z.string().nullable(),
  }),
  errors: ['invalid-request'],
});

const BuildPath = z.object({ buildId: z.string().describe('Id of the build, a UUID').meta({ format: 'uuid' }) });

export const getBuild = defineOperation({
  ...requestWithoutBody,
  ...buildOperation,
  name: 'getBuild',
  summary: 'Get a build',
  grantees: everyone,
  path: '/builds/{buildId}',
  params: BuildPath,
  response: z.object({ build: Build }),
  errors: ['build-not-found'],
});

/** Responds with 200 if the build is canceled, and with 202 while a running build is being stopped. Idempotent. */
export const cancelBuild = defineOperation({
  ...requestWithoutBody,
  ...buildOperation,
  name: 'cancelBuild',
  summary: 'Cancel a build that is waiting or running',
  audit: 'builds.cancel',
  grantees: editors,
  method: 'POST',
  path: '/builds/{buildId}/cancel',
  params: BuildPath,
  other: { status: 202, when: ({ build }) => build.status !== 'canceled' },
  response: z.object({ build: Build }),
  errors: ['build-not-found', 'build-ended'],
});

/**
 * To follow a build, repeat the request with `wait` and the `nextToken` of the previous response. A response without
 * `nextToken` means that the build has ended and the log is complete.
 */
export const getBuildLogs = defineOperation({
  ...requestWithoutBody,
  ...buildOperation,
  name: 'getBuildLogs',
  summary: 'Read the log of a build, also while it runs',
  grantees: everyone,
  path: '/builds/{buildId}/logs',
  params: BuildPath,
  query: z.object({
    limit: z.coerce
      .number<number>()
      .int()
      .min(1)
      .max(linesPerBuildLogPage.maximum)
      .default(linesPerBuildLogPage.default),
    nextToken: z.string().optional().describe('nextToken of the previous response'),
    wait: z.coerce
      .number<number>()
      .min(0)
      .max(buildLogLongPollSeconds)
      .default(0)
      .describe('Seconds to wait for a line if there is none yet'),
    full: z
      .enum(['true', 'false'])
      .default('false')
      .describe('Include details, such as the lines of uv for each package'),
  }),
  response: z.object({
    logs: z.array(z.string()).describe('Lines, oldest first: time (ISO 8601), space, text'),
    nextToken: z.string().optional().describe('Absent if the build has ended and no line follows'),
  }),
  errors: ['invalid-request', 'build-not-found'],
});
