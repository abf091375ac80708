import type { Client } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import type { Cell } from '../output/report.ts';

/** Where secrets are stored, shown before the confirmation. */
export type WriteTarget = {
  readonly organization: string;
  readonly origin: string;
  readonly region: string;
  readonly isDefaultRegion: boolean;
};

/** Finds the organization's name, which the key may imply, and whether `region` is the default. */
export async function findWriteTarget(
  { settings }: Pick<Context, 'settings'>,
  client: Client,
  region: string,
): Promise<WriteTarget> {
  const [{ properties }, organization] = await Promise.all([
    client.getProperties(),
    settings.organization?.value ?? impliedOrganization(client),
  ]);
  return { organization, origin: settings.origin.value, region, isDefaultRegion: properties.defaultRegion === region };
}

/** The organization of the key. */
async function impliedOrganization(client: Client): Promise<string> {
  const { organizations } = await client.listOrganizations();
  return organizations[0]?.name ?? 'the organization of the key';
}

/** The target as fields. */
export function targetFields(place: WriteTarget): readonly (readonly [string, Cell])[] {
  return [
    ['Organization', place.organization],
    ['Service', place.origin],
    ['Region', place.isDefaultRegion ? `${place.region} (the default)` : place.region],
  ];
}
