import type { Context } from '../command-line/context.ts';
import type { Report } from '../output/report.ts';
import { type ChangeOptions, changeSet } from './change-set.ts';
import { requireConfirmable } from './confirm-change.ts';
import { readValues, type ValueInputs } from './read-values.ts';
import { requireSetName } from './set-name.ts';

export type SetKeys = ValueInputs & ChangeOptions & { readonly region: string | undefined; readonly replaces: boolean };

/** Creates or updates a secret set: reads all values, then sends them in one request. */
export async function setKeys(context: Context, options: SetKeys): Promise<Report> {
  const { name, replaces } = options;
  requireSetName(name);
  if (!options.isDryRun) requireConfirmable(context, options);
  const { secrets, skipped } = await readValues(context, options);
  return changeSet(context, {
    ...options,
    skipped,
    question: ({ change }) =>
      change === 'created' ? `Create the secret set ${name}?` : `Change the secret set ${name}?`,
    submit: (client, { region, ...ask }) =>
      client.putSecrets({
        params: { setName: name },
        body: {
          secrets: [...secrets],
          mode: replaces ? 'replace' : 'merge',
          ...regionOf(region ?? options.region),
          ...ask,
        },
      }),
  });
}

function regionOf(region: string | undefined) {
  return region === undefined ? {} : { region };
}
