import { command as define } from '../../../command.ts';
import { UsageError } from '../../../failure.ts';
import { asOperator, operatorOptions, waitFor, waitOption } from '../../../operator.ts';
import { text } from '../../../options.ts';
import { requireNoFindings, vaultReport } from '../../../vault-report.ts';

const layers = ['root', 'organization'] as const;

export const command = define({
  summary: 'Go over to another root key, or make new keys of organizations',
  details:
    'root: a new key file, or the first key of BOTHOST_VAULT_KEYS, wraps the keys of all organizations from now on; values ' +
    'stay as they are. organization: what is written from now on is sealed with new keys; what was written before follows ' +
    'with `operator vault reencrypt`. Bots, reads and writes go on, and work that a stop interrupts goes on after it.',
  arguments: { layer: { description: layers.join(' or ') } },
  options: {
    ...operatorOptions,
    ...waitOption,
    only: text({ description: 'With organization: this one alone, by name or id', placeholder: 'NAME' }),
  },
  examples: ['operator vault rotate root', 'operator vault rotate organization --only home'],
  run: (context, { layer: given, only, wait, 'token-file': file }) => {
    const layer = layers.find((one) => one === given);
    if (layer === undefined) throw new UsageError(`There is no layer ${JSON.stringify(given)}: root or organization.`);
    if (layer === 'root' && only !== undefined) throw new UsageError('--only goes with organization.');
    return asOperator(context, file, async (client) => {
      const begun = await client.rotateVault({ body: { layer, organization: only } });
      const kind = layer === 'root' ? 'rekey' : 'rotate';
      if (wait === false) return vaultReport(begun);
      const status = await waitFor(context, client, kind, begun);
      requireNoFindings(status, kind);
      if (layer === 'organization')
        context.say('What was written before follows with: botcli operator vault reencrypt');
      return vaultReport(status);
    });
  },
});
