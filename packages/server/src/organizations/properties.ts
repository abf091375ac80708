import { createApiError } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { findOrganization, listRegionCodes, setDefaultRegion } from './rows.ts';

type Scope = { readonly organizationId: string };
type Properties = { defaultRegion: string };

export async function getOrganizationProperties(context: { db: Database }, scope: Scope): Promise<Properties> {
  const organization = await findOrganization(context.db, scope.organizationId);
  if (organization === undefined) throw createApiError('organization-not-found');
  return { defaultRegion: organization.default_region };
}

export async function describeOrganizationProperties(context: { db: Database }, scope: Scope) {
  const { defaultRegion } = await getOrganizationProperties(context, scope);
  const regions = await listRegionCodes(context.db);
  return {
    defaultRegion: {
      type: 'string',
      description: 'The region of agents and secret sets that name none',
      default: regions[0] ?? defaultRegion,
      currentValue: defaultRegion,
      readOnly: false,
      availableValues: regions,
    },
  };
}

export async function updateOrganizationProperties(
  context: { db: Database },
  scope: Scope,
  wanted: Properties,
): Promise<Properties> {
  const regions = await listRegionCodes(context.db);
  if (!regions.includes(wanted.defaultRegion)) {
    throw createApiError('region-unknown', {
      message: `Region "${wanted.defaultRegion}" does not exist. Regions: ${regions.join(', ')}.`,
    });
  }
  await setDefaultRegion(context.db, scope.organizationId, wanted.defaultRegion);
  return getOrganizationProperties(context, scope);
}

export async function listRegions(context: { db: Database }): Promise<{ code: string; display_name: string }[]> {
  const regions = await listRegionCodes(context.db);
  return regions.map((code) => ({ code, display_name: code }));
}

export async function listOrganizations(context: { db: Database }, scope: Scope) {
  const organization = await findOrganization(context.db, scope.organizationId);
  return organization === undefined
    ? []
    : [{ id: organization.id, name: organization.name, verboseName: organization.verbose_name }];
}
