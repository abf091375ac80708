import { defineCommand } from '../../../command-line/command.ts';
import { writeProfile } from '../../../connection/profile.ts';
import { Failure } from '../../../failure.ts';
import { createFields } from '../../../output/fields.ts';

export const command = defineCommand({
  summary: 'Set the organization for later commands',
  details: 'Stored in the profile. BOTCLI_ORG and --organization override it.',
  arguments: { name: { description: 'Name or id of the organization' } },
  examples: ['cloud organizations select acme'],
  run: async ({ service, io, profile, settings, notify, warn }, { name }) => {
    const client = await service();
    const { organizations } = await client.listOrganizations();
    const organization = organizations.find((one) => one.name === name || one.id === name);
    if (organization === undefined) {
      const known = organizations.map((one) => one.name).join(', ');
      throw new Failure(
        'organization-not-found',
        `The configured key has no access to the organization "${name}".`,
        `Your organizations: ${known}.`,
      );
    }
    const isSwitch = profile.public_key !== null && profile.organization !== organization.name;
    await writeProfile(io.environment.profileFile, {
      organization: organization.name,
      ...(isSwitch ? { public_key: null } : {}),
    });
    if (isSwitch) notify('The public key in the profile belonged to another organization and was removed.');
    if (settings.organization?.source === 'BOTCLI_ORG') warn('BOTCLI_ORG is set and overrides the profile.');
    const fields = createFields([
      ['Organization', { text: organization.name, tone: 'strong' }],
      ['Profile', io.environment.profileFile],
    ]);
    return { json: { organization, profile: io.environment.profileFile }, blocks: [fields] };
  },
});
