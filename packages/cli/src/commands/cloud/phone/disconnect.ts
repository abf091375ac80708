import { defineCommand } from '../../../command-line/command.ts';
import { confirmationOptions } from '../../../command-line/options.ts';
import { requireConfirmation } from '../../../io/confirm.ts';

export const command = defineCommand({
  summary: 'Delete the stored credential of a phone carrier',
  details: 'Its calls are then refused.',
  arguments: { carrier: { description: 'Name of the carrier' } },
  options: confirmationOptions,
  examples: ['cloud phone disconnect twilio --yes'],
  run: async ({ service, io }, { carrier, yes, force }) => {
    const client = await service();
    if (!yes && !force)
      await requireConfirmation(io, `Delete the credential of ${carrier}? Its calls are then refused.`, '--yes');
    const connection = await client.disconnectPhone({ params: { carrier } });
    return { json: connection, blocks: [{ kind: 'fields', fields: [['Disconnected', connection.carrier]] }] };
  },
});
