import { defineCommand } from '../../../command-line/command.ts';
import { flagOption } from '../../../command-line/options.ts';
import { dryRunOption, expectedRevisionOption, skipConfirmationOption, waitOption } from '../../../secrets/options.ts';

export const command = defineCommand({
  summary: 'Remove keys from a secret set',
  details:
    'Shows the keys that will be removed and asks for confirmation; without a terminal it needs --skip. All ' +
    'keys are removed in one revision, or none.',
  arguments: {
    name: { description: 'Name of the set' },
    secret_key: { description: 'One or more keys', many: true },
  },
  options: {
    skip: skipConfirmationOption,
    'if-exists': flagOption('Ignore keys that do not exist'),
    'if-revision': expectedRevisionOption,
    'dry-run': dryRunOption,
    wait: waitOption,
  },
  examples: ['cloud secrets unset my-bot-secrets OLD_KEY', 'cloud secrets unset my-bot-secrets A B --if-exists --skip'],
  run: async (context, values) => {
    const { unsetSecretKeys } = await import('../../../secrets/unset-keys.ts');
    return unsetSecretKeys(context, {
      name: values.name,
      keys: values.secret_key,
      ifExists: values['if-exists'],
      skip: values.skip,
      ifRevision: values['if-revision'],
      isDryRun: values['dry-run'],
      waitSeconds: values.wait,
    });
  },
});
