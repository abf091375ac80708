import { defineCommand } from '../../../command-line/command.ts';
import { flagOption } from '../../../command-line/options.ts';
import { createConnectionFields } from '../../../rooms/connection-fields.ts';

export const command = defineCommand({
  summary: 'Store the key of a provider of rooms, so that sessions can start in rooms',
  details:
    "The only provider is daily. The API key is on the page Developers of Daily's dashboard. It is read from a hidden prompt or, " +
    'without a terminal, from the first line of standard input, never from an argument, which other users of the machine could ' +
    'read. The service asks Daily whether the key is valid, and stores it encrypted. A new key replaces the stored key and the ' +
    'stored secret for calls.',
  arguments: { provider: { description: 'Name of the provider: daily' } },
  options: {
    'dialin-secret': flagOption(
      'Also read the secret with which Daily signs announcements of calls: the field hmac of pinless_dialin',
    ),
  },
  examples: ['cloud rooms connect daily', 'cloud rooms connect daily < key.txt'],
  run: async ({ service, io }, { provider, 'dialin-secret': hasDialinSecret }) => {
    const { readProviderSecrets } = await import('../../../rooms/read-key.ts');
    const body = await readProviderSecrets(io, hasDialinSecret);
    const client = await service();
    const connection = await client.connectRooms({ params: { provider }, body });
    return { json: connection, blocks: [{ kind: 'fields', fields: createConnectionFields('Connected', connection) }] };
  },
});
