import { defineCommand } from '../../../command-line/command.ts';
import { textOption } from '../../../command-line/options.ts';
import { UsageError } from '../../../failure.ts';
import { operatorOptions, waitForVaultTask, waitOption, withOperatorClient } from '../../../operator/as-operator.ts';
import { createVaultReport, requireNoVaultFindings } from '../../../operator/vault-report.ts';

const layers = ['root', 'organization'] as const;

export const command = defineCommand({
  summary: 'Rotate the root key or the organization keys',
  details:
    'root: a new key file, or the first key of BOTHOST_VAULT_KEYS, wraps all organization keys from now on; ' +
    'stored values do not change.\n' +
    'organization: creates new keys and re-encrypts all secrets with them. Damaged secrets are left unchanged and ' +
    'reported with exit status 1.\n' +
    'The service keeps running. Interrupted work resumes when it starts again.',
  arguments: { layer: { description: layers.join(' or ') } },
  options: {
    ...operatorOptions,
    ...waitOption,
    only: textOption({
      description: 'With organization: only the organization with this name or id',
      placeholder: 'NAME',
    }),
  },
  examples: ['operator vault rotate root', 'operator vault rotate organization --only home'],
  run: (context, { layer: given, only, wait, 'token-file': file }) => {
    const layer = layers.find((one) => one === given);
    if (layer === undefined)
      throw new UsageError(`Unknown key layer ${JSON.stringify(given)}. Use root or organization.`);
    if (layer === 'root' && only !== undefined)
      throw new UsageError('--only can be used only with the key layer "organization".');
    return withOperatorClient(context, file, async (client) => {
      const begun = await client.rotateVault({ body: { layer, organization: only } });
      const kind = layer === 'root' ? 'rekey' : 'rotate';
      if (wait === false) return createVaultReport(begun);
      const status = await waitForVaultTask(context, client, kind, begun);
      requireNoVaultFindings(status, kind);
      return createVaultReport(status);
    });
  },
});
