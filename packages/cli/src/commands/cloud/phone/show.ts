import { phoneCarriers } from '@bothost/contract/phone-carriers';
import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, flagOption } from '../../../command-line/options.ts';
import { requireConfirmation } from '../../../io/confirm.ts';

export const command = defineCommand({
  summary: 'Show what to enter at a phone carrier, so that an agent answers its calls',
  details:
    'Prints for each carrier the answer URL of the agent, and where it belongs on the page of the carrier. The URLs for carriers ' +
    'whose signature does not cover the URL contain a secret of the agent.\n' +
    'With --rotate, the service first replaces the secrets in all URLs of the agent, also in that for Daily (cloud rooms dialin), and ' +
    'refuses the former URLs at once. On a terminal, the command asks for confirmation. Without one, it needs --yes.\n' +
    'With --watch, the command then waits for the first call, and says whether it reached the bot, and if not, what was wrong ' +
    '(exit status 1).\n' +
    'The service must be reachable by the carrier at the host of the URL, which its operator sets with BOTHOST_PUBLIC_URL.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    carrier: choiceOption({ description: 'Only this carrier', short: 'c' }, phoneCarriers),
    watch: flagOption('Wait for the first call', 'w'),
    rotate: flagOption('Replace the secrets in the URLs, for example because one was published'),
    yes: flagOption('Skip the confirmation of --rotate', 'y'),
  },
  examples: [
    'cloud phone parrot',
    'cloud phone parrot --carrier twilio --watch',
    'cloud phone parrot --rotate',
    'cloud phone show parrot --json',
  ],
  run: async (context, { name, carrier, watch, rotate, yes }) => {
    if (rotate && !yes) {
      const question = `Replace the secrets in the URLs of ${name}? The former URLs are refused at once.`;
      await requireConfirmation(context.io, question, '--yes');
    }
    const { showPhone } = await import('../../../phone/show-phone.ts');
    return showPhone(context, { agentName: name, carrier, shouldWatch: watch, shouldRotate: rotate });
  },
});
