import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { type FirstStart, firstStart } from '../organizations/first-start.ts';
import { writeProfile } from '../organizations/profile.ts';

/** The keys of the first organization, the path of the CLI profile, and whether the operator provided the keys. */
export type MadeFirst = FirstStart & { readonly profileFile: string; readonly given: boolean };

/** Creates the first organization and the CLI profile. Null if an organization already exists. */
export async function makeFirstOrganization(
  base: Pick<Context, 'db' | 'now' | 'newId'>,
  config: Config,
  dataDirectory: string,
  url: string,
): Promise<MadeFirst | null> {
  const { bootstrapPrivateKey, bootstrapPublicKey } = config.secrets;
  const given = bootstrapPrivateKey !== undefined;
  let profileFile = '';
  const made = await firstStart(
    base,
    config.region,
    {
      organization: config.bootstrapOrganization ?? 'home',
      privateKey: bootstrapPrivateKey ?? null,
      publicKey: bootstrapPublicKey ?? null,
    },
    async ({ organizationName, privateKey, publicKey }) => {
      const profile = {
        api_url: config.publicUrl ?? url,
        organization: organizationName,
        private_key: privateKey,
        public_key: publicKey,
      };
      profileFile = await writeProfile(config.profileFile, join(dataDirectory, 'botcli.toml'), profile);
    },
  );
  return made === null ? null : { ...made, profileFile, given };
}
