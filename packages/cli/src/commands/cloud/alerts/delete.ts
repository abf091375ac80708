import { defineCommand } from '../../../command-line/command.ts';
import { createAlertFields } from '../../../records/alert.ts';

export const command = defineCommand({
  summary: 'Delete an alert of an agent',
  details: 'If an incident is open, it is closed, and the event alert.closed is sent.',
  arguments: {
    name: { description: 'Name of the agent' },
    id: { description: 'Id of the alert, from `cloud alerts list`' },
  },
  examples: ['cloud alerts delete parrot 0192f0c1-2345-7000-8000-00000000abcd'],
  run: async ({ service }, { name, id }) => {
    const client = await service();
    const deleted = await client.deleteAlert({ params: { agentName: name, alertId: id } });
    return { json: deleted, blocks: [{ kind: 'fields', title: 'Deleted', fields: createAlertFields(deleted) }] };
  },
});
