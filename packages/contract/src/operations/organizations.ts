import { z } from 'zod';
import { DeploySource } from '../agent-fields.ts';
import { editors, everyone, people } from '../authorization.ts';
import { maxRequestBodyBytes } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { noBody, noFields, Uuid } from './fields.ts';

const Properties = z.object({ defaultRegion: z.string() });

const Region = z.object({
  code: z.string(),
  display_name: z.string(),
  accepts: DeploySource.describe('What agents are deployed from: a build of an uploaded project, or a container image'),
});

export const listOrganizations = defineOperation({
  name: 'listOrganizations',
  summary: 'List the organizations that the key has access to',
  tag: 'organizations',
  key: 'account',
  grantees: [...people, 'private-key'],
  method: 'GET',
  path: '/organizations',
  params: noFields,
  query: noFields,
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: z.object({ organizations: z.array(z.object({ id: Uuid, name: z.string(), verboseName: z.string() })) }),
  errors: [],
});

export const listRegions = defineOperation({
  name: 'listRegions',
  summary: 'List the regions where bots can run',
  tag: 'organizations',
  key: 'private',
  grantees: everyone,
  method: 'GET',
  path: '/regions',
  params: noFields,
  query: noFields,
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: z.object({ regions: z.array(Region) }),
  errors: [],
});

export const getProperties = defineOperation({
  name: 'getProperties',
  summary: 'Read the settings of the organization',
  tag: 'organizations',
  key: 'private',
  grantees: everyone,
  method: 'GET',
  path: '/properties',
  params: noFields,
  query: noFields,
  body: noBody,
  bodyBytes: 0,
  status: 200,
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
  name: 'getPropertiesSchema',
  summary: 'Describe the settings of the organization',
  tag: 'organizations',
  key: 'private',
  grantees: everyone,
  method: 'GET',
  path: '/properties/schema',
  params: noFields,
  query: noFields,
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: z.object({ properties: z.object({ defaultRegion: PropertyDescription }) }),
  errors: [],
});

/**
 * Unlike other operations, `updateProperties` rejects unknown fields: each field is a setting, and a misspelled setting must
 * not be ignored.
 */
export const updateProperties = defineOperation({
  name: 'updateProperties',
  summary: 'Change settings of the organization',
  audit: 'organization.update',
  tag: 'organizations',
  key: 'private',
  grantees: editors,
  method: 'PATCH',
  path: '/properties',
  params: noFields,
  query: noFields,
  body: z.strictObject(Properties.shape),
  bodyBytes: maxRequestBodyBytes,
  status: 200,
  response: z.object({ properties: Properties }),
  errors: ['invalid-request', 'region-unknown'],
});
