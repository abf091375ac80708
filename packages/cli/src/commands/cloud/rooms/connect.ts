import { defineCommand } from '../../../command-line/command.ts';
import { switchOption } from '../../../command-line/options.ts';
import { Failure } from '../../../failure.ts';
import { createConnectionFields } from '../../../rooms/connection-fields.ts';

export const command = defineCommand({
  summary: 'Store the key of a provider of rooms, so that sessions can start in rooms',
  details:
    "The only provider is daily. The API key is on the page Developers of Daily's dashboard. It is read from a hidden prompt or, " +
    'without a terminal, from the first line of standard input, never from an argument, which other users of the machine could ' +
    'read. The service asks Daily whether the key is valid, and stores it encrypted. A new key replaces the stored key. The stored ' +
    'secret for calls stays if the key belongs to the same domain, unless --no-dialin-secret deletes it.',
  arguments: { provider: { description: 'Name of the provider: daily' } },
  options: {
    'dialin-secret': switchOption(
      'Also read the secret with which Daily signs announcements of calls, the field hmac of pinless_dialin; --no-dialin-secret deletes it',
    ),
  },
  examples: ['cloud rooms connect daily', 'cloud rooms connect daily < key.txt'],
  run: async ({ service, io }, { provider, 'dialin-secret': hasDialinSecret }) => {
    if (provider !== 'daily')
      throw new Failure('room-provider-unknown', `PROVIDER must be daily, not ${JSON.stringify(provider)}.`);
    const { readProviderSecrets } = await import('../../../rooms/read-key.ts');
    const secrets = await readProviderSecrets(io, hasDialinSecret === true);
    const client = await service();
    const body = hasDialinSecret === false ? { ...secrets, dialinSecret: null } : secrets;
    const connection = await client.connectRooms({ params: { provider }, body });
    return { json: connection, blocks: [{ kind: 'fields', fields: createConnectionFields('Connected', connection) }] };
  },
});
