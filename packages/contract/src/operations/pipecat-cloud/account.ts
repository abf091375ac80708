import { z } from 'zod';
import { administrators, everyone, people } from '../../authorization.ts';
import { defineOperation } from '../../operation.ts';
import { IsoDateTime, requestWithoutBody, Uuid } from '../fields.ts';
import { ApiKeyKind, ApiKeyName, createKey, listKeys, revokeKey } from '../keys.ts';

const tag = 'pipecat-cloud';
const read = { ...requestWithoutBody, tag } as const;

export const identifyCaller = defineOperation({
  ...read,
  name: 'identifyCaller',
  summary: 'Identify the caller. An API key has no e-mail address',
  key: 'account',
  grantees: [...people, 'private-key'],
  path: '/users',
  response: z.object({
    user: z.object({
      userId: Uuid.describe('Id of the person or of the API key'),
      emails: z.array(z.object({ emailAddress: z.string() })),
    }),
  }),
  errors: [],
});

const ListedApiKey = z.object({
  id: Uuid,
  key: z.string().describe('The first characters of a private key'),
  createdAt: IsoDateTime,
  revoked: z.boolean().describe('Revoked or expired'),
  metadata: z.object({ name: z.string() }),
});

const keys = { tag, key: 'organization' } as const;

export const listApiKeys = defineOperation({
  ...read,
  ...keys,
  grantees: administrators,
  name: 'listApiKeys',
  summary: listKeys.summary,
  audit: 'keys.list',
  path: '/apiKeys',
  response: z.object({ public: z.array(ListedApiKey), private: z.array(ListedApiKey) }),
  errors: [],
});

export const createApiKey = defineOperation({
  ...createKey,
  ...keys,
  name: 'createApiKey',
  path: '/apiKeys',
  body: z.object({ name: ApiKeyName, type: ApiKeyKind }),
});

export const revokeApiKey = defineOperation({ ...revokeKey, ...keys, name: 'revokeApiKey', path: '/apiKeys/{keyId}' });

export const listAgentProfiles = defineOperation({
  ...read,
  ...keys,
  grantees: everyone,
  name: 'listAgentProfiles',
  summary: 'List the agent profiles',
  path: '/agent-profiles',
  response: z.object({
    agentProfiles: z.array(
      z.object({
        api_name: z.string(),
        display_name: z.string(),
        resources: z.object({ cpu: z.string(), memory: z.string() }),
        custom: z.literal(false),
        enabled: z.literal(true),
      }),
    ),
  }),
  errors: [],
});

export const listRegistryKeys = defineOperation({
  ...read,
  ...keys,
  grantees: everyone,
  name: 'listRegistryKeys',
  summary: 'List the registry keys, of which this service has none',
  path: '/registry-keys',
  response: z.object({ registry_keys: z.array(z.never()) }),
  errors: [],
});
