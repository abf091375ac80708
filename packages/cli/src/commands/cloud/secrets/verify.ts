import { command as define } from '../../../command-line/command.ts';
import { text } from '../../../command-line/options.ts';

export const command = define({
  summary: 'Ask the registry whether it accepts the credentials of an image pull secret',
  details:
    'The service asks, from where it runs, and stores the answer, which lists show. Verified: the registry ' +
    'accepts them. Rejected (status 1): it does not, or has no such image for them. Unreachable: it gave no ' +
    'conclusive answer. Skipped: it was not asked, or asks nobody for credentials.',
  arguments: { name: { description: 'Name of the image pull secret' } },
  options: {
    image: text({ description: 'Also ask whether they may pull this image', placeholder: 'IMAGE' }),
  },
  examples: ['cloud secrets verify hub', 'cloud secrets verify hub --image me/bot:1'],
  run: async (context, { name, image }) => {
    const { verifyPullSecret } = await import('../../../secrets/verify-pull-secret.ts');
    return verifyPullSecret(context, { name, image });
  },
});
