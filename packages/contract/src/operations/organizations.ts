import { z } from 'zod';
import { DeploySource } from '../agent-fields.ts';
import { editors, everyone, people } from '../authorization.ts';
import { defineOperation } from '../operation.ts';
import { requestWithBody, requestWithoutBody, Uuid } from './fields.ts';

const Properties = z.object({ defaultRegion: z.string() });

const Region = z.object({
  code: z.string(),
  display_name: z.string(),
  accepts: DeploySource.describe('What agents are deployed from: a build of an uploaded project, or a container image'),
});

export const listOrganizations = defineOperation({
  ...requestWithoutBody,
  name: 'listOrganizations',
  summary: 'List the organizations that the key has access to',
  tag: 'organizations',
  key: 'account',
  grantees: [...people, 'private-key'],
  path: '/organizations',
  response: z.object({ organizations: z.array(z.object({ id: Uuid, name: z.string(), verboseName: z.string() })) }),
  errors: [],
});

const organizationOperation = { tag: 'organizations', key: 'private' } as const;

export const listRegions = defineOperation({
  ...requestWithoutBody,
  ...organizationOperation,
  name: 'listRegions',
  summary: 'List the regions where bots can run',
  grantees: everyone,
  path: '/regions',
  response: z.object({ regions: z.array(Region) }),
  errors: [],
});

export const getProperties = defineOperation({
  ...requestWithoutBody,
  ...organizationOperation,
  name: 'getProperties',
  summary: 'Read the settings of the organization',
  grantees: everyone,
  path: '/properties',
  response: z.object({ properties: Properties }),
  errors: [],
});

const PropertyDescription = z.object({
  type: z.string(),
  description: z.string(),
  default: z.string(),
  currentValue: z.string(),
  readOnly: z.boolean(),
  availableValues: z.array(z.string()),
});

export const getPropertiesSchema = defineOperation({
  ...requestWithoutBody,
  ...organizationOperation,
  name: 'getPropertiesSchema',
  summary: 'Describe the settings of the organization',
  grantees: everyone,
  path: '/properties/schema',
  response: z.object({ properties: z.object({ defaultRegion: PropertyDescription }) }),
  errors: [],
});

/**
 * Unlike other operations, `updateProperties` rejects unknown fields: each field is a setting, and a misspelled setting must
 * not be ignored.
 */
export const updateProperties = defineOperation({
  ...requestWithBody,
  ...organizationOperation,
  name: 'updateProperties',
  summary: 'Change settings of the organization',
  audit: 'organization.update',
  grantees: editors,
  method: 'PATCH',
  path: '/properties',
  body: z.strictObject(Properties.shape),
  response: z.object({ properties: Properties }),
  errors: ['invalid-request', 'region-unknown'],
});
