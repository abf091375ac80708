import { defineCommand } from '../../../command-line/command.ts';
import { textOption } from '../../../command-line/options.ts';

export const command = defineCommand({
  summary: 'Verify an image pull secret with its registry',
  details:
    'The service asks the registry and stores the result, which lists show.\n' +
    'verified: the registry accepts the credentials. rejected (exit status 1): the registry does not accept the ' +
    'credentials, or they cannot pull the image. unreachable: no conclusive response. skipped: the registry was not asked, or needs no credentials.',
  arguments: { name: { description: 'Name of the image pull secret' } },
  options: {
    image: textOption({ description: 'Also verify that the credentials can pull this image', placeholder: 'IMAGE' }),
  },
  examples: ['cloud secrets verify hub', 'cloud secrets verify hub --image me/bot:1'],
  run: async (context, { name, image }) => {
    const { verifyPullSecret } = await import('../../../secrets/verify-pull-secret.ts');
    return verifyPullSecret(context, { name, image });
  },
});
