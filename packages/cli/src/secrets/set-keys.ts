import type { CommandContext } from '../command-line/context.ts';
import type { CommandReport } from '../output/report.ts';
import { changeSecretSet, type SecretSetChangeOptions } from './change-set.ts';
import { requireConfirmationPossible } from './confirm-change.ts';
import { readSecretValues, type SecretValueInputs } from './read-values.ts';
import { requireSecretSetName } from './set-name.ts';

export type WriteSecretSetOptions = SecretValueInputs &
  SecretSetChangeOptions & { readonly region: string | undefined; readonly replaces: boolean };

/** Creates or updates a secret set. Reads all values first, then sends them in one request. */
export async function writeSecretSet(context: CommandContext, options: WriteSecretSetOptions): Promise<CommandReport> {
  const { name, replaces } = options;
  requireSecretSetName(name);
  if (!options.isDryRun) requireConfirmationPossible(context, options);
  const { secrets, skipped } = await readSecretValues(context, options);
  return changeSecretSet(context, {
    ...options,
    skipped,
    question: ({ change }) =>
      change === 'created' ? `Create the secret set ${name}?` : `Change the secret set ${name}?`,
    submit: (client, { region: previewRegion, ...mode }) => {
      const region = previewRegion ?? options.region;
      return client.putSecrets({
        params: { setName: name },
        body: { secrets: [...secrets], mode: replaces ? 'replace' : 'merge', region, ...mode },
      });
    },
  });
}
