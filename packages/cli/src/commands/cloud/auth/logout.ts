import { command as define } from '../../../command-line/command.ts';
import { flag } from '../../../command-line/options.ts';
import { confirm } from '../../../io/confirm.ts';
import { writeProfile } from '../../../service/profile.ts';

export const command = define({
  summary: 'Remove the keys from the profile',
  details: 'The keys stay valid: `cloud keys revoke` ends one for good. The service shows a key only once.',
  arguments: {},
  options: { yes: flag('Do not ask', 'y'), force: flag('Do not ask', 'f') },
  examples: ['cloud auth logout --yes'],
  run: async ({ io, profile, warn }, { yes, force }) => {
    const file = io.environment.profileFile;
    const kept = profile.private_key !== null || profile.public_key !== null;
    if (kept && !yes && !force) {
      await confirm(io, `Remove the keys from ${file}? The service cannot show them again.`, '--yes');
    }
    if (kept) await writeProfile(file, { private_key: null, public_key: null, organization: null });
    if (io.environment.token !== null) warn('BOTCLI_TOKEN is still set, and wins over the profile.');
    return {
      json: { loggedOut: kept, profile: file },
      blocks: [
        {
          kind: 'fields',
          fields: [
            ['Logged out', kept ? 'Yes' : 'There was no key'],
            ['Profile', file],
          ],
        },
      ],
    };
  },
});
