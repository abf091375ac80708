import { defineCommand } from '../../../command-line/command.ts';
import { confirmationOptions, flagOption } from '../../../command-line/options.ts';
import { requireConfirmation } from '../../../io/confirm.ts';
import { createConnectionFields } from '../../../rooms/connection-fields.ts';

export const command = defineCommand({
  summary: 'Delete the stored key of a provider of rooms',
  details:
    'While rooms exist, the key is deleted only with ' +
    '--force: the rooms then expire at the provider, and are deleted once a key is connected again.',
  arguments: { provider: { description: 'Name of the provider: daily' } },
  options: { ...confirmationOptions, force: flagOption('Delete the key although rooms exist') },
  examples: ['cloud rooms disconnect daily --yes'],
  run: async ({ service, io }, { provider, yes, force }) => {
    const client = await service();
    if (!yes)
      await requireConfirmation(
        io,
        `Delete the key of ${provider}? Without it, sessions cannot start in rooms.`,
        '--yes',
      );
    const query = { force: force ? 'true' : 'false' } as const;
    const connection = await client.disconnectRooms({ params: { provider }, query });
    return {
      json: connection,
      blocks: [{ kind: 'fields', fields: createConnectionFields('Disconnected', connection) }],
    };
  },
});
