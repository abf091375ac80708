import { command as define } from '../../../command-line/command.ts';
import { flag } from '../../../command-line/options.ts';
import { confirm } from '../../../io/confirm.ts';
import { formatCount } from '../../../output/format.ts';

export const command = define({
  summary: 'Delete an agent',
  details:
    'No new sessions start; live ones run to their end. Their records stay, but a new agent with the same name ' +
    'does not inherit them. Asks first on a terminal; elsewhere it needs --yes.',
  arguments: { name: { description: 'Name of the agent' } },
  options: { yes: flag('Do not ask', 'y'), force: flag('Do not ask', 'f') },
  examples: ['cloud agent delete my-bot --yes'],
  run: async ({ service, io }, { name, yes, force }) => {
    const client = await service();
    const agent = await client.getAgent({ params: { agentName: name } });
    if (!yes && !force) {
      const live = agent.activeSessionCount;
      const goOn = live === 0 ? '' : ` ${formatCount(live, 'live session')} will run to the end.`;
      await confirm(io, `Delete the agent ${name} with all its deployments?${goOn}`, '--yes');
    }
    const deleted = await client.deleteAgent({ params: { agentName: name } });
    return {
      json: deleted,
      blocks: [
        {
          kind: 'fields',
          fields: [
            ['Deleted', name],
            ['Agent id', deleted.id],
            ['Sessions still running', String(deleted.activeSessionCount)],
          ],
        },
      ],
    };
  },
});
