import { command as define } from '../../../command.ts';
import { asOperator, operatorOptions } from '../../../operator.ts';
import { vaultBlocks } from '../../../vault-report.ts';

export const command = define({
  summary: 'Remove former keys of organizations that nothing needs any more',
  details: 'A key with which something is sealed or stamped stays. Backups have the keys of their own time.',
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
