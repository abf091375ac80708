import { formatCount } from '@bothost/contract/format-count';
import { defineCommand } from '../../../command-line/command.ts';
import { confirmationOptions } from '../../../command-line/options.ts';
import { requireConfirmation } from '../../../io/confirm.ts';
import { createFields } from '../../../output/fields.ts';

export const command = defineCommand({
  summary: 'Delete an agent',
  details:
    'Live sessions run to their end; new ones cannot start. The session records are kept, but a new agent with ' +
    'the same name does not inherit them.',
  arguments: { name: { description: 'Name of the agent' } },
  options: confirmationOptions,
  examples: ['cloud agent delete my-bot --yes'],
  run: async ({ service, io }, { name, yes, force }) => {
    const client = await service();
    const agent = await client.getAgent({ params: { agentName: name } });
    if (!yes && !force) {
      const live = agent.activeSessionCount;
      const liveNote = live === 0 ? '' : ` ${formatCount(live, 'live session')} will run to the end.`;
      await requireConfirmation(io, `Delete the agent ${name} with all its deployments?${liveNote}`, '--yes');
    }
    const deleted = await client.deleteAgent({ params: { agentName: name } });
    const fields = createFields([
      ['Deleted', name],
      ['Agent id', deleted.id],
      ['Sessions still running', String(deleted.activeSessionCount)],
    ]);
    return { json: deleted, blocks: [fields] };
  },
});
