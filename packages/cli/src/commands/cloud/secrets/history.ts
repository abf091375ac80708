import { secretRevisionsPerPage } from '@bothost/contract/limits';
import { defineCommand } from '../../../command-line/command.ts';
import { integerOption, pageSizeOption } from '../../../command-line/options.ts';

export const command = defineCommand({
  summary: 'List the revisions of a secret set, newest first',
  details: 'Columns: revision, status, created, API key, action, keys (+ added, ~ changed, - removed).',
  arguments: { name: { description: 'Name of the set' } },
  options: {
    limit: pageSizeOption(secretRevisionsPerPage, 'Revisions'),
    before: integerOption({ description: 'Only revisions before this one' }, 1, 2_147_483_647),
  },
  examples: ['cloud secrets history my-bot-secrets'],
  run: async (context, { name, limit = secretRevisionsPerPage.default, before }) => {
    const { showSecretSetHistory } = await import('../../../secrets/set-history.ts');
    return showSecretSetHistory(context, { name, limit, before });
  },
});
