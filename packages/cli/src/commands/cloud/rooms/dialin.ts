import { defineCommand } from '../../../command-line/command.ts';
import { createFields } from '../../../output/fields.ts';

export const command = defineCommand({
  summary: 'Show the address at which Daily announces phone calls for an agent',
  details:
    'Enter the address as room_creation_api of your phone number in pinless_dialin of your domain at Daily. Each call then starts ' +
    'a session. Unless Daily signs announcements, the address contains a secret: anyone who knows it can start sessions. To replace it, ' +
    'run: botcli cloud phone AGENT --rotate',
  arguments: { name: { description: 'Name of the agent' } },
  examples: ['cloud rooms dialin receptionist'],
  run: async ({ service }, { name }) => {
    const client = await service();
    const webhook = await client.getDialinWebhook({ params: { agentName: name } });
    const fields = createFields([
      ['Address', { text: webhook.url, tone: 'strong' }],
      ['Checked by', webhook.isSigned ? "Daily's signature" : 'the secret in the address'],
    ]);
    return { json: webhook, blocks: [fields] };
  },
});
