import { defineCommand } from '../../../command-line/command.ts';
import { switchOption, textOption } from '../../../command-line/options.ts';
import { UsageError } from '../../../failure.ts';
import { operatorOptions, waitForVaultTask, waitOption, withOperatorClient } from '../../../operator/as-operator.ts';
import { createVaultReport, requireNoVaultFindings } from '../../../operator/vault-report.ts';

const layers = ['root', 'organization'] as const;

export const command = defineCommand({
  summary: 'Rotate the root key or the organization keys, or verify all secrets',
  details:
    'root: a new key file, or the first key of BOTHOST_VAULT_KEYS, wraps all organization keys from now on; ' +
    'stored values do not change.\n' +
    'organization: creates new keys, verifies all keys and secrets, and that the revisions of deployments exist, and ' +
    're-encrypts the secrets with the new keys. Damaged secrets are left unchanged. Exit status 1 if anything is damaged ' +
    'or missing.\n' +
    'organization --dry-run: only verifies, and changes nothing. `operator vault verify` does the same. To verify an audit ' +
    'log, use `cloud audit verify`.\n' +
    'The service keeps running. Interrupted work resumes when it starts again.',
  arguments: { layer: { description: layers.join(' or ') } },
  options: {
    ...operatorOptions,
    ...waitOption,
    only: textOption({
      description: 'With organization: only the organization with this name or id',
      placeholder: 'NAME',
    }),
    'dry-run': switchOption('With organization: verify the keys and secrets, and change nothing'),
  },
  examples: [
    'operator vault rotate root',
    'operator vault rotate organization --only home',
    'operator vault rotate organization --dry-run',
    'operator vault verify --json',
  ],
  run: (context, { layer: name, only, wait, 'dry-run': isDryRun = false, 'token-file': file }) => {
    const layer = layers.find((one) => one === name);
    if (layer === undefined)
      throw new UsageError(`Unknown key layer ${JSON.stringify(name)}. Use root or organization.`);
    if (layer === 'root' && (only !== undefined || isDryRun)) {
      throw new UsageError('--only and --dry-run can be used only with the key layer "organization".');
    }
    return withOperatorClient(context, file, async (client) => {
      const begun = isDryRun
        ? await client.verifyVault({ body: { organization: only } })
        : await client.rotateVault({ body: { layer, organization: only } });
      const kind = isDryRun ? 'verify' : layer === 'root' ? 'rekey' : 'rotate';
      if (wait === false) return createVaultReport(begun);
      const status = await waitForVaultTask(context, client, kind, begun);
      requireNoVaultFindings(status, kind);
      return createVaultReport(status);
    });
  },
});
