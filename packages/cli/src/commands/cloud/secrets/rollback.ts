import { defineCommand } from '../../../command-line/command.ts';
import { UsageError } from '../../../failure.ts';
import { dryRunOption, expectedRevisionOption, skipConfirmationOption, waitOption } from '../../../secrets/options.ts';

export const command = defineCommand({
  summary: 'Restore the content of an earlier revision as a new revision',
  details:
    'Shows which keys change and asks for confirmation; without a terminal it needs --skip. Running bots keep ' +
    'their values.',
  arguments: {
    name: { description: 'Name of the set' },
    revision: { description: 'Revision to restore, from `cloud secrets history`' },
  },
  options: {
    skip: skipConfirmationOption,
    'if-revision': expectedRevisionOption,
    'dry-run': dryRunOption,
    wait: waitOption,
  },
  examples: ['cloud secrets rollback my-bot-secrets 3', 'cloud secrets rollback my-bot-secrets 3 --dry-run'],
  run: async (context, { name, revision, skip, 'if-revision': expected, 'dry-run': isDryRun, wait: seconds }) => {
    if (!/^[1-9]\d{0,8}$/.test(revision)) throw new UsageError('REVISION must be a whole number, at least 1.');
    const { rollBackSecretSet } = await import('../../../secrets/roll-back-set.ts');
    return rollBackSecretSet(context, {
      name,
      revision: Number(revision),
      skip,
      ifRevision: expected,
      isDryRun,
      waitSeconds: seconds,
    });
  },
});
