import { defineCommand } from '../../../command-line/command.ts';
import { flagOption } from '../../../command-line/options.ts';
import { dryRunOption, expectedRevisionOption, skipConfirmationOption } from '../../../secrets/options.ts';

export const command = defineCommand({
  summary: 'Delete a secret set or an image pull secret permanently',
  details:
    'Shows the region, the keys and the agents that use the set, and asks for confirmation; without a terminal ' +
    'it needs --skip. A set in use is deleted only with --force. Running bots keep their values.',
  arguments: { name: { description: 'Name of the set' } },
  options: {
    skip: skipConfirmationOption,
    force: flagOption('Delete the set even if agents use it'),
    'if-revision': expectedRevisionOption,
    'dry-run': dryRunOption,
  },
  examples: ['cloud secrets delete old-secrets', 'cloud secrets delete old-secrets --force --skip'],
  run: async (context, { name, skip, force, 'if-revision': expected, 'dry-run': isDryRun }) => {
    const { deleteSecretSet } = await import('../../../secrets/delete-set.ts');
    return deleteSecretSet(context, { name, skip, force, ifRevision: expected, isDryRun });
  },
});
