import { command as define } from '../../../command-line/command.ts';
import { asOperator, operatorOptions } from '../../../operator/as-operator.ts';
import { vaultBlocks } from '../../../operator/vault-report.ts';

export const command = define({
  summary: 'Remove former organization keys that are no longer needed',
  details: 'Keys that still seal or stamp something stay. Backups contain the keys of their time.',
  arguments: {},
  options: operatorOptions,
  examples: ['operator vault retire'],
  run: (context, { 'token-file': file }) =>
    asOperator(context, file, async (client) => {
      const status = await client.retireVaultKeys();
      return {
        json: status,
        blocks: [{ kind: 'fields', fields: [['Retired keys', String(status.retired)]] }, ...vaultBlocks(status)],
      };
    }),
});
