import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { ServiceContext } from '../context.ts';
import { createOrganizationAtFirstStart, type FirstOrganizationKeys } from '../organizations/first-start.ts';
import { writeCliProfile } from '../organizations/profile.ts';

/** The keys of the first organization, the path of the CLI profile, and whether the operator provided the keys. */
export type FirstOrganization = FirstOrganizationKeys & {
  readonly profileFile: string;
  readonly areKeysGiven: boolean;
};

/** Creates the first organization and the CLI profile. Null if an organization already exists. */
export async function createFirstOrganization(
  base: Pick<ServiceContext, 'db' | 'now' | 'newId' | 'serviceUrl'>,
  config: Config,
  dataDirectory: string,
): Promise<FirstOrganization | null> {
  const { bootstrapPrivateKey, bootstrapPublicKey } = config.secrets;
  const areKeysGiven = bootstrapPrivateKey !== undefined;
  let profileFile = '';
  const created = await createOrganizationAtFirstStart(
    base,
    config.region,
    {
      organization: config.bootstrapOrganization ?? 'home',
      privateKey: bootstrapPrivateKey ?? null,
      publicKey: bootstrapPublicKey ?? null,
    },
    async ({ organizationName, privateKey, publicKey }) => {
      const profile = {
        api_url: base.serviceUrl(),
        organization: organizationName,
        private_key: privateKey,
        public_key: publicKey,
      };
      profileFile = await writeCliProfile(config.profileFile, join(dataDirectory, 'botcli.toml'), profile);
    },
  );
  return created === null ? null : { ...created, profileFile, areKeysGiven };
}
