import { defineCommand } from '../../../command-line/command.ts';
import { flagOption } from '../../../command-line/options.ts';
import { requireConfirmation } from '../../../io/confirm.ts';
import { writeProfile } from '../../../service/profile.ts';

export const command = defineCommand({
  summary: 'Remove the keys from the profile',
  details: 'The keys stay valid until `cloud keys revoke` revokes them. The service cannot show them again.',
  arguments: {},
  options: { yes: flagOption('Skip the confirmation', 'y'), force: flagOption('Skip the confirmation', 'f') },
  examples: ['cloud auth logout --yes'],
  run: async ({ io, profile, warn }, { yes, force }) => {
    const file = io.environment.profileFile;
    const hasKey = profile.private_key !== null || profile.public_key !== null;
    if (hasKey && !yes && !force) {
      await requireConfirmation(io, `Remove the keys from ${file}? The service cannot show them again.`, '--yes');
    }
    if (hasKey) await writeProfile(file, { private_key: null, public_key: null, organization: null });
    if (io.environment.token !== null) warn('BOTCLI_TOKEN is still set and overrides the profile.');
    return {
      json: { loggedOut: hasKey, profile: file },
      blocks: [
        {
          kind: 'fields',
          fields: [
            ['Logged out', hasKey ? 'Yes' : 'No, the profile has no key'],
            ['Profile', file],
          ],
        },
      ],
    };
  },
});
