import { defineCommand } from '../../../command-line/command.ts';
import { confirmationOptions } from '../../../command-line/options.ts';
import { requireConfirmation } from '../../../io/confirm.ts';
import { createFields } from '../../../output/fields.ts';
import { formatTime } from '../../../output/format.ts';

export const command = defineCommand({
  summary: 'Revoke an API key permanently',
  arguments: { id: { description: 'Id of the key, from `cloud keys list`' } },
  options: confirmationOptions,
  examples: ['cloud keys revoke 0192f0c1-2345-7000-8000-00000000abcd --yes'],
  run: async ({ service, io, settings }, { id, yes, force }) => {
    const client = await service();
    if (!yes && !force) {
      const key = (await client.listKeys()).keys.find((one) => one.id === id.toLowerCase());
      const isOwnKey = key !== undefined && settings.privateKey?.value.startsWith(key.start) === true;
      const keyLabel = key === undefined ? `the key ${id}` : `the ${key.kind} key "${key.name}"`;
      await requireConfirmation(io, `Revoke ${keyLabel}${isOwnKey ? ', which this command is using' : ''}?`, '--yes');
    }
    const revoked = await client.revokeKey({ params: { keyId: id } });
    const fields = createFields([
      ['Revoked', formatTime(revoked.revokedAt)],
      ['Name', revoked.name],
      ['Id', revoked.id],
    ]);
    return { json: revoked, blocks: [fields] };
  },
});
