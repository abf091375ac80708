import type { Client } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import type { Cell } from '../output/report.ts';

/** Where secrets are written, for somebody who is about to confirm it. */
export type WriteTarget = {
  readonly organization: string;
  readonly origin: string;
  readonly region: string;
  readonly isDefaultRegion: boolean;
};

/** The organization by its name also where the key implies it; `region` is the one that the service named. */
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

/** Without a region named, a new set goes into that of the organization. */
async function impliedOrganization(client: Client): Promise<string> {
  const { organizations } = await client.listOrganizations();
  return organizations[0]?.name ?? 'that of the key';
}

/** The rows that say it. */
export function targetFields(place: WriteTarget): readonly (readonly [string, Cell])[] {
  return [
    ['Organization', place.organization],
    ['Service', place.origin],
    ['Region', place.isDefaultRegion ? `${place.region} (the default)` : place.region],
  ];
}
