import { defineCommand } from '../../../command-line/command.ts';
import { operatorOptions, withOperatorClient } from '../../../operator/as-operator.ts';
import { createFields } from '../../../output/fields.ts';
import { formatTime } from '../../../output/format.ts';

export const command = defineCommand({
  summary: 'Create a private key when all keys of an organization are lost',
  details:
    'Needs no API key, only the operator token, and the service must be running. The key belongs to the organization of ' +
    '--organization or BOTCLI_ORG, by default the oldest organization. It is shown once. Keys that already ' +
    'exist stay valid: revoke them with `cloud keys revoke`.',
  arguments: { name: { description: 'Name of the key, for lists; by default "operator"', optional: true } },
  options: operatorOptions,
  examples: ['operator keys create', 'operator keys create laptop --organization home --json'],
  run: async (context, { name = 'operator', 'token-file': file }) => {
    const { organization } = context.settings;
    // Do not use the organization of the profile, which may belong to another service.
    const isRequested = organization !== null && organization.source !== context.io.environment.profileFile;
    const body = { name, ...(isRequested ? { organization: organization.value } : {}) };
    const created = await withOperatorClient(context, file, (client) => client.createOperatorKey({ body }));
    return {
      json: created,
      blocks: [
        createFields([
          ['Key', { text: created.key, tone: 'strong' }],
          ['Id', created.id],
          ['Name', created.name],
          ['Organization', created.organization],
          ['Created', formatTime(created.createdAt)],
        ]),
        {
          kind: 'note',
          lines: ['Save the key now: it cannot be shown again. To log in with it, run: botcli cloud auth use-pat'],
        },
      ],
    };
  },
});
