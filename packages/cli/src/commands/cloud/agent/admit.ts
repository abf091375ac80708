import { defineCommand } from '../../../command-line/command.ts';
import { requiredOption, textOption } from '../../../command-line/options.ts';
import { createFields } from '../../../output/fields.ts';
import { formatTime } from '../../../output/format.ts';

export const command = defineCommand({
  summary: 'Create a token with which another person joins a session in a LiveKit room',
  details:
    'The client that started the session already has a token. Pass the URL and the token to the LiveKit client of the other ' +
    'person. Create a token for each person.',
  arguments: { name: { description: 'Name of the agent' } },
  options: {
    'session-id': requiredOption(textOption({ description: 'The session to join', short: 's', placeholder: 'ID' })),
    as: textOption({ description: 'The name that the other participants see (default: User)', placeholder: 'NAME' }),
  },
  examples: ['cloud agent admit my-bot --session-id 0192f0c1-2345-7000-8000-00000000abcd --as Ada'],
  run: async ({ service }, { name, 'session-id': sessionId, as }) => {
    const client = await service();
    const admission = await client.admitParticipant({ params: { agentName: name, sessionId }, body: { name: as } });
    const fields = createFields([
      ['URL', admission.url],
      ['Token', admission.token],
      ['Token expires', formatTime(admission.expiresAt)],
      ['Identity', admission.identity],
    ]);
    return { json: admission, blocks: [fields] };
  },
});
