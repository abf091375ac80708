import { z } from 'zod';
import { editors } from '../authorization.ts';
import { maxSecretBodyBytes, secretSetLimits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { SecretSetKey, SecretSetName, SecretValue } from '../secret-fields.ts';
import { IsoDateTime, requestWithBody, requestWithoutBody } from './fields.ts';
import {
  RevisionNumber,
  SecretSetKind,
  SecretSetPathParameters,
  SecretSetReadiness,
  SecretValueFingerprint,
} from './secrets.ts';

/** Path parameters of a secret write. Unlike `SecretSetPathParameters`, this schema requires a valid name of a secret set. */
const NewSetPath = z.object({ setName: SecretSetName });

const precondition = {
  expectedRevision: z
    .int()
    .min(0)
    .nullish()
    .describe('409 if the set is at another revision; 0: 409 if the set exists'),
  dryRun: z.boolean().nullish().describe('Return the changes without writing them'),
};

const tooMany = ({ input }: { readonly input?: unknown }): string =>
  `${Array.isArray(input) ? input.length : 'too many'} keys; a set has at most ${secretSetLimits.keys}`;

/**
 * A request has one of three forms: `secrets` with all keys; `secretKey` with `secretValue`, which existing clients send; or
 * `isImagePullSecret` with `host` and `secretValue`. Unknown fields are ignored.
 */
const PutSecretsRequest = z
  .object({
    secrets: z
      .array(z.object({ secretKey: SecretSetKey, secretValue: SecretValue }))
      .max(secretSetLimits.keys, { error: tooMany })
      .nullish(),
    remove: z
      .array(z.string())
      .max(secretSetLimits.keys, { error: tooMany })
      .nullish()
      .describe('Keys to remove in the same revision'),
    mode: z.enum(['merge', 'replace']).nullish().describe('replace also removes all other keys; default: merge'),
    isImagePullSecret: z.boolean().nullish(),
    host: z.string().max(2_048).nullish().describe('Of an image pull secret: the registry'),
    secretKey: SecretSetKey.nullish(),
    secretValue: SecretValue.nullish().describe('Of an image pull secret: user:password in Base64'),
    expiresAt: z.iso
      .datetime({ offset: true })
      .refine((time) => new Date(time).getUTCFullYear() <= 9_999, 'the year must have four digits')
      .nullish()
      .describe('Of an image pull secret: when the credentials expire'),
    region: z
      .string()
      .nullish()
      .describe('The region of the set, which cannot change; default: the region of the organization'),
    ...precondition,
  })
  .superRefine((body, check) => {
    const problem = (path: string, message: string) => check.addIssue({ code: 'custom', path: [path], message });
    const many = body.secrets ?? null;
    if (body.isImagePullSecret === true) {
      if (typeof body.host !== 'string' || body.host === '') problem('host', 'an image pull secret needs a registry');
      if (typeof body.secretValue !== 'string') problem('secretValue', 'an image pull secret needs credentials');
      if (many !== null || typeof body.secretKey === 'string' || body.remove)
        problem('isImagePullSecret', 'an image pull secret has one value and no keys');
      return;
    }
    if (typeof body.expiresAt === 'string') problem('expiresAt', 'only image pull secrets expire');
    if ((typeof body.secretKey === 'string') !== (typeof body.secretValue === 'string'))
      problem('secretValue', 'secretKey and secretValue must be given together');
    if (many !== null && typeof body.secretKey === 'string') problem('secretKey', 'use either secrets or secretKey');
    const written = [...(many ?? []).map(({ secretKey }) => secretKey), ...(body.secretKey ? [body.secretKey] : [])];
    if (body.mode === 'replace' && (body.remove ?? []).length > 0)
      problem('remove', 'replace already removes all other keys');
    if (written.length === 0 && (body.remove ?? []).length === 0) problem('secrets', 'name at least one key');
    const twice = written.filter((key, index) => written.indexOf(key) !== index);
    for (const key of new Set(twice)) problem('secrets', `contains ${key} twice`);
    for (const key of body.remove ?? []) {
      if (written.includes(key)) problem('remove', `${key.slice(0, 64)} is both written and removed`);
    }
  })
  .meta({ id: 'PutSecretsRequest' });
export type PutSecretsRequest = z.output<typeof PutSecretsRequest>;

/** The result of a write, or of its dry run. */
const SecretWriteResult = z
  .object({
    status: z.literal('OK'),
    name: z.string(),
    type: SecretSetKind,
    region: z.string(),
    readiness: SecretSetReadiness.nullable().describe('Of the revision; null for a dry run that would create one'),
    revision: RevisionNumber.nullable().describe('The current revision; null if there is none'),
    previousRevision: RevisionNumber.nullable(),
    change: z.enum(['created', 'updated', 'none']),
    dryRun: z.boolean(),
    host: z.string().optional().describe('Of an image pull secret: the normalized registry'),
    expiresAt: IsoDateTime.nullable().optional().describe('Of an image pull secret'),
    changes: z.array(
      z.object({
        key: z.string(),
        change: z.enum(['new', 'changed', 'unchanged', 'removed']),
        bytes: z.number().int().nullable().describe('Of the sent value'),
        fingerprint: SecretValueFingerprint.nullable().describe('Of the sent value; null for a dry run of a new set'),
      }),
    ),
  })
  .meta({ id: 'WrittenSecrets' });
export type SecretWriteResult = z.infer<typeof SecretWriteResult>;

/** Responds with 202 while the delivery of the stored revision to the region is pending, otherwise with 200. */
const written = {
  status: 202,
  other: {
    status: 200,
    when: ({ dryRun, change, readiness }: SecretWriteResult) =>
      dryRun || (change === 'none' && readiness !== 'pending'),
  },
  response: SecretWriteResult,
} as const;

const secretWriteOperation = { tag: 'secrets', key: 'private', grantees: editors } as const;

export const putSecrets = defineOperation({
  ...requestWithBody,
  ...secretWriteOperation,
  name: 'putSecrets',
  summary: 'Create or change a secret set or an image pull secret, in one atomic revision',
  audit: 'secrets.set',
  exactBody: true,
  method: 'PUT',
  path: '/secrets/{setName}',
  params: NewSetPath,
  body: PutSecretsRequest,
  bodyBytes: maxSecretBodyBytes,
  ...written,
  errors: [
    'invalid-request',
    'region-unknown',
    'secret-set-kind',
    'secret-set-region',
    'secret-set-too-large',
    'secret-sets-too-many',
    'secret-set-not-found',
    'secret-not-found',
    'secret-set-changed',
    'secret-set-damaged',
    'too-many-dry-runs',
    'too-many-secret-writes',
  ],
});

const KeyPath = SecretSetPathParameters.extend({ secretKey: z.string() });

export const deleteSecret = defineOperation({
  ...requestWithoutBody,
  ...secretWriteOperation,
  name: 'deleteSecret',
  summary: 'Remove one key from a secret set',
  audit: 'secrets.unset',
  method: 'DELETE',
  path: '/secrets/{setName}/{secretKey}',
  params: KeyPath,
  ...written,
  status: 200,
  other: { status: 200, when: () => false },
  errors: ['secret-set-not-found', 'secret-not-found', 'secret-set-damaged', 'too-many-secret-writes'],
});

export const deleteSecretSet = defineOperation({
  ...requestWithoutBody,
  ...secretWriteOperation,
  name: 'deleteSecretSet',
  summary: 'Delete a secret set or an image pull secret with all its revisions',
  audit: 'secrets.delete',
  method: 'DELETE',
  path: '/secrets/{setName}',
  params: SecretSetPathParameters,
  query: z.object({
    force: z.enum(['true', 'false']).default('false').describe('Delete it even if agents use it'),
    expectedRevision: z.coerce
      .number<number>()
      .int()
      .min(0)
      .optional()
      .describe('409 if the set is at another revision'),
  }),
  response: z.object({ status: z.literal('OK'), name: z.string(), type: SecretSetKind, agents: z.array(z.string()) }),
  errors: [
    'invalid-request',
    'secret-set-not-found',
    'secret-set-changed',
    'secret-set-in-use',
    'too-many-secret-writes',
  ],
});

export const rollBackSecrets = defineOperation({
  ...requestWithBody,
  ...secretWriteOperation,
  name: 'rollBackSecrets',
  summary: 'Create a revision with the content of an earlier one',
  audit: 'secrets.rollback',
  exactBody: true,
  path: '/secrets/{setName}/rollback',
  params: SecretSetPathParameters,
  body: z.object({ revision: z.int32().min(1), ...precondition }),
  bodyBytes: maxSecretBodyBytes,
  ...written,
  errors: [
    'invalid-request',
    'secret-set-not-found',
    'secret-revision-not-found',
    'secret-set-changed',
    'secret-set-damaged',
    'too-many-dry-runs',
    'too-many-secret-writes',
  ],
});
