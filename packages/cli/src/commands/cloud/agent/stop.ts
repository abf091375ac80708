import { defineCommand } from '../../../command-line/command.ts';
import { confirmationOptions, requiredOption, textOption } from '../../../command-line/options.ts';
import { requireConfirmation } from '../../../io/confirm.ts';
import { createFields } from '../../../output/fields.ts';

export const command = defineCommand({
  summary: 'Stop a session of an agent',
  details: 'The bot is stopped immediately.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    'session-id': requiredOption(textOption({ description: 'The session to stop', short: 's', placeholder: 'ID' })),
    ...confirmationOptions,
  },
  examples: ['cloud agent stop parrot --session-id 0192f0c1-2345-7000-8000-00000000abcd --yes'],
  run: async ({ service, io }, { name, 'session-id': sessionId, force, yes }) => {
    const client = await service();
    if (!force && !yes) await requireConfirmation(io, `Stop the session ${sessionId} of ${name}?`, '--yes');
    const stopped = await client.stopSession({ params: { agentName: name, sessionId } });
    const fields = createFields([
      ['Session', stopped.session_id],
      ['Status', stopped.status],
    ]);
    return { json: stopped, blocks: [fields] };
  },
});
