import { defineCommand } from '../../../command-line/command.ts';
import { integerOption } from '../../../command-line/options.ts';

export const command = defineCommand({
  summary: 'List the revisions of a secret set, newest first',
  details: 'Columns: revision, status, created, API key, action, keys (+ added, ~ changed, - removed).',
  arguments: { name: { description: 'Name of the set' } },
  options: {
    limit: integerOption({ description: 'Revisions per page, 20 by default', short: 'n' }, 1, 100),
    before: integerOption({ description: 'Only revisions before this one' }, 1, 2_147_483_647),
  },
  examples: ['cloud secrets history my-bot-secrets'],
  run: async (context, { name, limit = 20, before }) => {
    const { showSecretSetHistory } = await import('../../../secrets/set-history.ts');
    return showSecretSetHistory(context, { name, limit, before });
  },
});
