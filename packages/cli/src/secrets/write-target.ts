import type { ApiClient } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import type { Cell } from '../output/report.ts';

/**
 * The service, organization and region to which a command writes secrets. The command shows all three when it asks for
 * confirmation.
 */
export type SecretWriteTarget = {
  readonly organization: string;
  readonly origin: string;
  readonly region: string;
  readonly isDefaultRegion: boolean;
};

/**
 * Returns the target of a write. Asks the service whether `region` is the default region and, if the settings name no
 * organization, to which organization the key belongs.
 */
export async function findSecretWriteTarget(
  { settings }: Pick<CommandContext, 'settings'>,
  client: ApiClient,
  region: string,
): Promise<SecretWriteTarget> {
  const [{ properties }, organization] = await Promise.all([
    client.getProperties(),
    settings.organization?.value ?? impliedOrganization(client),
  ]);
  return { organization, origin: settings.origin.value, region, isDefaultRegion: properties.defaultRegion === region };
}

async function impliedOrganization(client: ApiClient): Promise<string> {
  const { organizations } = await client.listOrganizations();
  return organizations[0]?.name ?? 'the organization of the key';
}

export function formatSecretWriteTarget(target: SecretWriteTarget): readonly (readonly [string, Cell])[] {
  return [
    ['Organization', target.organization],
    ['Service', target.origin],
    ['Region', target.isDefaultRegion ? `${target.region} (the default)` : target.region],
  ];
}
