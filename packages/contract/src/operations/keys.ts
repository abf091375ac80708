import { z } from 'zod';
import { apiKeyNameLength, requestBodyBytes } from '../limits.ts';
import { operation } from '../operation.ts';
import { Id, noBody, none, Time } from './fields.ts';

const ApiKeyKind = z.enum(['private', 'public']);

const fields = {
  id: Id,
  name: z.string(),
  kind: ApiKeyKind,
  start: z.string().describe('The first characters, enough to recognize it'),
  createdAt: Time,
  expiresAt: Time.nullable(),
  lastUsedAt: Time.nullable().describe('To the minute'),
  revokedAt: Time.nullable(),
};

export const KeyName = z
  .string()
  .trim()
  .min(1)
  .max(apiKeyNameLength)
  .regex(/^\P{Cc}*$/u, 'contains control characters');

/** An API key without the key itself. */
export const ApiKey = z.object(fields).meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

/** A new API key, with the key itself. */
export const CreatedKey = z.object({ ...fields, key: z.string() });

export const listKeys = operation({
  name: 'listKeys',
  summary: 'List the API keys of the organization, revoked ones included',
  tag: 'keys',
  key: 'private',
  audit: 'keys.list',
  method: 'GET',
  path: '/keys',
  params: none,
  query: none,
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: z.object({ keys: z.array(ApiKey) }),
  errors: [],
});

export const createKey = operation({
  name: 'createKey',
  summary: 'Create an API key. Only this response contains it',
  tag: 'keys',
  key: 'private',
  audit: 'keys.create',
  method: 'POST',
  path: '/keys',
  params: none,
  query: none,
  body: z.object({
    name: KeyName,
    kind: ApiKeyKind,
    expiresInSeconds: z
      .number()
      .int()
      .min(1)
      .max(10 * 366 * 86_400)
      .nullish(),
  }),
  bodyBytes: requestBodyBytes,
  status: 201,
  response: CreatedKey,
  errors: ['invalid-request'],
});

export const revokeKey = operation({
  name: 'revokeKey',
  summary: 'Revoke an API key',
  tag: 'keys',
  key: 'private',
  audit: 'keys.revoke',
  method: 'DELETE',
  path: '/keys/{keyId}',
  params: z.object({ keyId: z.string() }),
  query: none,
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: ApiKey,
  errors: ['key-not-found'],
});
