import { command as define } from '../../../command-line/command.ts';
import { text } from '../../../command-line/options.ts';
import { UsageError } from '../../../failure.ts';
import { asOperator, operatorOptions, waitForTask, waitOption } from '../../../operator/as-operator.ts';
import { requireNoFindings, vaultReport } from '../../../operator/vault-report.ts';

const layers = ['root', 'organization'] as const;

export const command = define({
  summary: 'Switch to another root key, or create new organization keys',
  details:
    'root: a new key file, or the first key of BOTHOST_VAULT_KEYS, wraps the keys of all organizations from now ' +
    'on; values are not changed. organization: creates new keys and re-encrypts all secrets with them. Damaged ' +
    'secrets are left unchanged and reported: exit status 1. Bots, reads and writes keep working, and interrupted ' +
    'work resumes when the service starts again.',
  arguments: { layer: { description: layers.join(' or ') } },
  options: {
    ...operatorOptions,
    ...waitOption,
    only: text({ description: 'With organization: this one alone, by name or id', placeholder: 'NAME' }),
  },
  examples: ['operator vault rotate root', 'operator vault rotate organization --only home'],
  run: (context, { layer: given, only, wait, 'token-file': file }) => {
    const layer = layers.find((one) => one === given);
    if (layer === undefined) throw new UsageError(`Unknown layer ${JSON.stringify(given)}: use root or organization.`);
    if (layer === 'root' && only !== undefined) throw new UsageError('--only can be used only with organization.');
    return asOperator(context, file, async (client) => {
      const begun = await client.rotateVault({ body: { layer, organization: only } });
      const kind = layer === 'root' ? 'rekey' : 'rotate';
      if (wait === false) return vaultReport(begun);
      const status = await waitForTask(context, client, kind, begun);
      requireNoFindings(status, kind);
      return vaultReport(status);
    });
  },
});
