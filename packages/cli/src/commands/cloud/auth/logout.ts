import { command as define } from '../../../command-line/command.ts';
import { flag } from '../../../command-line/options.ts';
import { confirm } from '../../../io/confirm.ts';
import { writeProfile } from '../../../service/profile.ts';

export const command = define({
  summary: 'Remove the keys from the profile',
  details: 'The keys stay valid until `cloud keys revoke` revokes them. The service cannot show them again.',
  arguments: {},
  options: { yes: flag('Skip the confirmation', 'y'), force: flag('Skip the confirmation', 'f') },
  examples: ['cloud auth logout --yes'],
  run: async ({ io, profile, warn }, { yes, force }) => {
    const file = io.environment.profileFile;
    const kept = profile.private_key !== null || profile.public_key !== null;
    if (kept && !yes && !force) {
      await confirm(io, `Remove the keys from ${file}? The service cannot show them again.`, '--yes');
    }
    if (kept) await writeProfile(file, { private_key: null, public_key: null, organization: null });
    if (io.environment.token !== null) warn('BOTCLI_TOKEN is still set and overrides the profile.');
    return {
      json: { loggedOut: kept, profile: file },
      blocks: [
        {
          kind: 'fields',
          fields: [
            ['Logged out', kept ? 'Yes' : 'No, the profile has no key'],
            ['Profile', file],
          ],
        },
      ],
    };
  },
});
