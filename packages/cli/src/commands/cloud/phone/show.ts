import { phoneCarriers } from '@bothost/contract/phone-carriers';
import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, flagOption } from '../../../command-line/options.ts';

export const command = defineCommand({
  summary: 'Show what to enter at a phone carrier, so that an agent answers its calls',
  details:
    'Prints for each carrier the answer URL of the agent, and where it belongs on the page of the carrier. The URLs for carriers ' +
    'whose signature does not cover the URL contain a secret of the agent.\n' +
    'With --watch, the command then waits for the first call, and says whether it reached the bot, and if not, what was wrong ' +
    '(exit status 1).\n' +
    'The service must be reachable by the carrier at the host of the URL, which its operator sets with BOTHOST_PUBLIC_URL.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    carrier: choiceOption({ description: 'Only this carrier', short: 'c' }, phoneCarriers),
    watch: flagOption('Wait for the first call', 'w'),
  },
  examples: ['cloud phone parrot', 'cloud phone parrot --carrier twilio --watch', 'cloud phone show parrot --json'],
  run: async (context, { name, carrier, watch }) => {
    const { showPhone } = await import('../../../phone/show-phone.ts');
    return showPhone(context, { agentName: name, carrier, shouldWatch: watch });
  },
});
