import { defineCommand } from '../../../command-line/command.ts';
import { textOption } from '../../../command-line/options.ts';
import { operatorOptions, waitForVaultTask, waitOption, withOperatorClient } from '../../../operator/as-operator.ts';
import { createVaultReport, requireNoVaultFindings } from '../../../operator/vault-report.ts';

export const command = defineCommand({
  summary: 'Verify all stored secrets and keys',
  details:
    'Verifies every key, set, revision and value, and that the revisions of deployments exist. Exit status 1 if ' +
    'anything is damaged or missing. Values are never shown, nothing is changed, and the service keeps running.\n' +
    'To verify an audit log, use `cloud audit verify`.',
  arguments: {},
  options: {
    ...operatorOptions,
    ...waitOption,
    only: textOption({ description: 'Only this organization, by name or id', placeholder: 'NAME' }),
  },
  examples: ['operator vault verify', 'operator vault verify --only home --json'],
  run: (context, { only, wait, 'token-file': file }) =>
    withOperatorClient(context, file, async (client) => {
      const begun = await client.verifyVault({ body: { organization: only } });
      if (wait === false) return createVaultReport(begun);
      const status = await waitForVaultTask(context, client, 'verify', begun);
      requireNoVaultFindings(status, 'verify');
      return createVaultReport(status);
    }),
});
