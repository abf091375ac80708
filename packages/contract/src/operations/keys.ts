import { z } from 'zod';
import { administrators } from '../authorization.ts';
import { maxApiKeyLifetimeSeconds, maxApiKeyNameLength } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { IsoDateTime, requestWithBody, requestWithoutBody, Uuid } from './fields.ts';

export const ApiKeyKind = z.enum(['private', 'public']);

const fields = {
  id: Uuid,
  name: z.string(),
  kind: ApiKeyKind,
  start: z.string().describe('The first characters, enough to recognize it'),
  key: z
    .string()
    .nullable()
    .describe(
      'The key itself if it is public. Null for a private key, and for a public key that an earlier version of the service created, until that key is used',
    ),
  createdAt: IsoDateTime,
  expiresAt: IsoDateTime.nullable(),
  lastUsedAt: IsoDateTime.nullable().describe('To the minute'),
  revokedAt: IsoDateTime.nullable(),
};

export const ApiKeyName = z
  .string()
  .trim()
  .min(1)
  .max(maxApiKeyNameLength)
  .regex(/^\P{Cc}*$/u, 'contains control characters');

/** Lifetime in seconds of an API key or personal token. A key or token without a lifetime never expires. */
export const ApiKeyLifetime = z.number().int().min(1).max(maxApiKeyLifetimeSeconds).nullish();

/**
 * The metadata of an API key. `key` is null for a private API key: only the response that creates a private key contains it.
 */
export const ApiKey = z.object(fields).meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

/** The metadata of a new API key, and the key itself. */
export const CreatedKey = z.object({ ...fields, key: z.string() });

const keyOperation = { tag: 'keys', key: 'private', grantees: administrators } as const;

export const listKeys = defineOperation({
  ...requestWithoutBody,
  ...keyOperation,
  name: 'listKeys',
  summary: 'List the API keys of the organization, revoked ones included',
  audit: 'keys.list',
  path: '/keys',
  response: z.object({ keys: z.array(ApiKey) }),
  errors: [],
});

export const createKey = defineOperation({
  ...requestWithBody,
  ...keyOperation,
  name: 'createKey',
  summary: 'Create an API key. Only this response contains a private key',
  audit: 'keys.create',
  path: '/keys',
  body: z.object({
    name: ApiKeyName,
    kind: ApiKeyKind,
    expiresInSeconds: ApiKeyLifetime,
  }),
  status: 201,
  response: CreatedKey,
  errors: ['invalid-request'],
});

export const revokeKey = defineOperation({
  ...requestWithoutBody,
  ...keyOperation,
  name: 'revokeKey',
  summary: 'Revoke an API key',
  audit: 'keys.revoke',
  method: 'DELETE',
  path: '/keys/{keyId}',
  params: z.object({ keyId: z.string() }),
  response: ApiKey,
  errors: ['key-not-found'],
});
