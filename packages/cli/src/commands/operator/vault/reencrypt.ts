import { command as define } from '../../../command-line/command.ts';
import { asOperator, operatorOptions, waitForTask, waitOption } from '../../../operator/as-operator.ts';
import { requireNoFindings, vaultReport } from '../../../operator/vault-report.ts';

export const command = define({
  summary: 'Re-seal with the newest keys what former keys sealed',
  details:
    'Run it after `operator vault rotate organization`. It works in small steps beside reads and writes, and ' +
    'resumes after a restart. Damaged values are left as they are and reported: exit status 1. Then `operator ' +
    'vault retire` removes the former keys.',
  arguments: {},
  options: { ...operatorOptions, ...waitOption },
  examples: ['operator vault reencrypt', 'operator vault reencrypt --no-wait'],
  run: (context, { wait, 'token-file': file }) =>
    asOperator(context, file, async (client) => {
      const begun = await client.reencryptVault();
      if (wait === false) return vaultReport(begun);
      const status = await waitForTask(context, client, 'reencrypt', begun);
      requireNoFindings(status, 'reencrypt');
      return vaultReport(status);
    }),
});
