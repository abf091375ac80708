import { createApiError, type DeploySource } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { findOrganization, listRegionRows, setDefaultRegion } from './rows.ts';

type Scope = { readonly organizationId: string };
type Properties = { defaultRegion: string };

export async function getOrganizationProperties(context: { db: Database }, scope: Scope): Promise<Properties> {
  const organization = await findOrganization(context.db, scope.organizationId);
  if (organization === undefined) throw createApiError('organization-not-found');
  return { defaultRegion: organization.default_region };
}

export async function describeOrganizationProperties(context: { db: Database }, scope: Scope) {
  const { defaultRegion } = await getOrganizationProperties(context, scope);
  const regions = await listRegionCodes(context);
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
  context: { readonly db: Database; readonly now: () => Date },
  actor: Scope & Actor,
  { defaultRegion }: Properties,
): Promise<Properties> {
  const regions = await listRegionCodes(context);
  if (!regions.includes(defaultRegion)) {
    throw createApiError('region-unknown', {
      message: `Region "${defaultRegion}" does not exist. Regions: ${regions.join(', ')}.`,
    });
  }
  const { organizationId } = actor;
  return context.db.transaction().execute(async (db) => {
    const before = await getOrganizationProperties({ db }, actor);
    await setDefaultRegion(db, organizationId, defaultRegion);
    await appendAudit(db, organizationId, {
      ...organizationEventFields,
      action: 'organization.update',
      object: organizationId,
      keys: [`default_region ${before.defaultRegion} > ${defaultRegion}`],
      actor,
      at: context.now(),
      result: 'done',
    });
    return { defaultRegion };
  });
}

/** Returns all regions, with what their agents are deployed from. */
export async function listRegions(context: {
  db: Database;
}): Promise<{ code: string; display_name: string; accepts: DeploySource }[]> {
  const rows = await listRegionRows(context.db);
  return rows.map(({ region, accepts }) => ({ code: region, display_name: region, accepts }));
}

async function listRegionCodes(context: { db: Database }): Promise<string[]> {
  return (await listRegions(context)).map(({ code }) => code);
}

export async function listOrganizations(context: { db: Database }, scope: Scope) {
  const organization = await findOrganization(context.db, scope.organizationId);
  return organization === undefined
    ? []
    : [{ id: organization.id, name: organization.name, verboseName: organization.verbose_name }];
}
