import { defineCommand } from '../../../command-line/command.ts';
import { operatorOptions, withOperatorClient } from '../../../operator/as-operator.ts';
import { createVaultReport } from '../../../operator/vault-report.ts';

export const command = defineCommand({
  summary: 'Show the keys of the vault and its tasks',
  details:
    'Keys are shown by their ids. Behind counts the keys and secret sets that a former key still protects. A root key ' +
    'that is no longer needed can be removed, but keep it for backups from when it was in use.',
  options: operatorOptions,
  examples: ['operator vault status', 'operator vault status --json'],
  run: async (context, { 'token-file': file }) =>
    createVaultReport(await withOperatorClient(context, file, (client) => client.getVault())),
});
