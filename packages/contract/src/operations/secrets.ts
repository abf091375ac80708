import { z } from 'zod';
import { editors, everyone } from '../authorization.ts';
import { secretRevisionsPerPage } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { imagePullSecretCheckResultLabels, listStatusValues, secretSetReadinessLabels } from '../statuses.ts';
import { IsoDateTime, requestWithBody, requestWithoutBody, Uuid } from './fields.ts';

export const SecretSetKind = z.enum(['secret', 'imagePullSecret']);
export const SecretSetReadiness = z.enum(listStatusValues(secretSetReadinessLabels));
export const RevisionNumber = z.number().int().describe('Number of the write of this set, from 1');
export const SecretValueFingerprint = z.string().describe('Keyed hash of the value; the key never leaves the service');

const setFields = {
  name: z.string(),
  type: SecretSetKind,
  region: z.string(),
  status: SecretSetReadiness,
  errorMessage: z.string().optional().describe('Why the delivery failed'),
  revision: RevisionNumber,
  createdAt: IsoDateTime,
  updatedAt: IsoDateTime,
};

/**
 * The result of checking an image pull secret with its registry. The result does not affect whether the secret is ready for use.
 */
const ImagePullSecretCheck = z
  .object({
    result: z
      .enum(listStatusValues(imagePullSecretCheckResultLabels))
      .describe('skipped: the registry was not contacted, or needs no credentials'),
    message: z.string().describe('The reason, and what to do'),
    image: z.string().nullable().describe('The image that was looked up'),
    checkedAt: IsoDateTime,
  })
  .meta({ id: 'PullSecretCheck' });
export type ImagePullSecretCheck = z.infer<typeof ImagePullSecretCheck>;

/** A secret set or image pull secret without its keys. No response contains a value. */
const SecretSetListItem = z
  .object({
    ...setFields,
    damaged: z
      .literal(true)
      .optional()
      .describe('The stored set is damaged or was changed outside the service; its other fields are not reliable'),
    keyCount: z.number().int(),
    host: z.string().nullable().describe('Of an image pull secret: the registry'),
    expiresAt: IsoDateTime.nullable().describe('Of an image pull secret: when the credentials expire, if known'),
    verification: ImagePullSecretCheck.nullable().describe('Of an image pull secret: the last check of this revision'),
  })
  .meta({ id: 'SecretSetListItem' });
export type SecretSetListItem = z.infer<typeof SecretSetListItem>;

const SecretSetDetails = z
  .object({
    ...setFields,
    source: z.literal('managed'),
    secrets: z.array(
      z.object({
        fieldName: z.string(),
        fingerprint: SecretValueFingerprint,
        revision: RevisionNumber.describe('The revision that last wrote the value'),
        updatedAt: IsoDateTime,
      }),
    ),
    agents: z.array(
      z.object({
        name: z.string(),
        revision: RevisionNumber.describe('The revision that its desired deployment uses'),
        stale: z.boolean().describe('Whether it uses an older revision, so that it has to be deployed again'),
      }),
    ),
  })
  .meta({ id: 'SecretSetDetails' });
export type SecretSetDetails = z.infer<typeof SecretSetDetails>;

/** The name of a secret set in a path. Accepts any text, so that the response to an invalid name is 404 instead of 400. */
export const SecretSetPathParameters = z.object({ setName: z.string().describe('Name of the secret set') });

const SecretRevision = z.object({
  revision: RevisionNumber,
  current: z.boolean(),
  status: SecretSetReadiness,
  createdAt: IsoDateTime,
  createdByKeyId: Uuid.nullable(),
  action: z.enum(['set', 'replace', 'unset', 'rollback']),
  rolledBackTo: RevisionNumber.nullable(),
  added: z.array(z.string()),
  changed: z.array(z.string()),
  removed: z.array(z.string()),
});
export type SecretRevision = z.infer<typeof SecretRevision>;

const secretOperation = { tag: 'secrets', key: 'private' } as const;

export const listSecrets = defineOperation({
  ...requestWithoutBody,
  ...secretOperation,
  name: 'listSecrets',
  summary: 'List the secret sets and image pull secrets of the organization',
  grantees: everyone,
  audit: 'secrets.list',
  path: '/secrets',
  query: z.object({ region: z.string().optional(), type: SecretSetKind.optional() }),
  response: z.object({ sets: z.array(SecretSetListItem) }),
  errors: ['invalid-request'],
});

export const getSecretSet = defineOperation({
  ...requestWithoutBody,
  ...secretOperation,
  name: 'getSecretSet',
  summary: 'Get a secret set with its keys, without their values',
  grantees: everyone,
  audit: 'secrets.get',
  path: '/secrets/{setName}',
  params: SecretSetPathParameters,
  response: SecretSetDetails,
  errors: ['secret-set-not-found', 'secret-set-has-no-keys', 'secret-set-damaged'],
});

export const getSecretHistory = defineOperation({
  ...requestWithoutBody,
  ...secretOperation,
  name: 'getSecretHistory',
  summary: 'List the revisions of a secret set with author, time and keys, newest first',
  grantees: everyone,
  audit: 'secrets.history',
  path: '/secrets/{setName}/history',
  params: SecretSetPathParameters,
  query: z.object({
    limit: z.coerce
      .number<number>()
      .int()
      .min(1)
      .max(secretRevisionsPerPage.maximum)
      .default(secretRevisionsPerPage.default),
    before: z.coerce
      .number<number>()
      .int()
      .min(1)
      .max(2_147_483_647)
      .optional()
      .describe('Only revisions before this one'),
  }),
  response: z.object({ revisions: z.array(SecretRevision), nextBefore: z.number().int().nullable() }),
  errors: ['invalid-request', 'secret-set-not-found', 'secret-set-damaged'],
});

const ImagePullSecretVerification = z
  .object({
    status: z.literal('OK'),
    name: z.string(),
    host: z.string(),
    revision: RevisionNumber,
    expiresAt: IsoDateTime.nullable(),
    verification: ImagePullSecretCheck,
  })
  .meta({ id: 'CheckedPullSecret' });
export type ImagePullSecretVerification = z.infer<typeof ImagePullSecretVerification>;

export const verifyImagePullSecret = defineOperation({
  ...requestWithBody,
  ...secretOperation,
  name: 'verifyImagePullSecret',
  summary: 'Check whether the registry accepts the credentials of an image pull secret',
  grantees: editors,
  audit: 'secrets.verify',
  path: '/secrets/{setName}/verify',
  params: SecretSetPathParameters,
  body: z
    .object({
      image: z
        .string()
        .min(1)
        .max(1_024)
        .nullish()
        .describe('Also check whether the credentials may pull this image, such as team/app:1.2'),
    })
    .optional(),
  bodyBytes: 65_536,
  response: ImagePullSecretVerification,
  errors: [
    'invalid-request',
    'secret-set-not-found',
    'secret-set-no-registry',
    'secret-set-damaged',
    'too-many-checks',
  ],
});
