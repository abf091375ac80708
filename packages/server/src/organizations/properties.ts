import { failure } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { findOrganization, regionCodes, setDefaultRegion } from './rows.ts';

type Scope = { readonly organizationId: string };
type Properties = { defaultRegion: string };

export async function getProperties(context: { db: Database }, scope: Scope): Promise<Properties> {
  const organization = await findOrganization(context.db, scope.organizationId);
  if (organization === undefined) throw failure('organization-not-found');
  return { defaultRegion: organization.default_region };
}

/** The settings with their meaning and allowed values (cloud API 5.7). */
export async function describeProperties(context: { db: Database }, scope: Scope) {
  const properties = await getProperties(context, scope);
  const regions = await regionCodes(context.db);
  return {
    properties,
    schema: {
      defaultRegion: {
        type: 'string',
        description: 'Where agents and secrets go when no region is named',
        default: regions[0] ?? properties.defaultRegion,
        currentValue: properties.defaultRegion,
        readOnly: false,
        availableValues: regions,
      },
    },
  };
}

export async function updateProperties(context: { db: Database }, scope: Scope, wanted: Properties) {
  const regions = await regionCodes(context.db);
  if (!regions.includes(wanted.defaultRegion)) {
    throw failure('region-unknown', {
      message: `There is no region ${wanted.defaultRegion}. Regions: ${regions.join(', ')}.`,
    });
  }
  await setDefaultRegion(context.db, scope.organizationId, wanted.defaultRegion);
  return describeProperties(context, scope);
}

export async function listRegions(context: { db: Database }): Promise<{ code: string; display_name: string }[]> {
  const regions = await regionCodes(context.db);
  return regions.map((code) => ({ code, display_name: code }));
}

export async function listOrganizations(context: { db: Database }, scope: Scope) {
  const organization = await findOrganization(context.db, scope.organizationId);
  return organization === undefined
    ? []
    : [{ id: organization.id, name: organization.name, verboseName: organization.verbose_name }];
}
