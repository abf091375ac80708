import type { Context } from '../command-line/context.ts';
import type { Report } from '../output/report.ts';
import { type ChangeOptions, changeSet } from './change-set.ts';
import { requireAskable } from './consent.ts';
import { requireSetName } from './set-name.ts';
import { type GivenValues, readValues } from './values.ts';

export type SetKeys = GivenValues & ChangeOptions & { readonly region: string | undefined; readonly replaces: boolean };

/** Creates or updates a secret set: reads all values, then asks for all of them in one request. */
export async function setKeys(context: Context, given: SetKeys): Promise<Report> {
  const { name, replaces } = given;
  requireSetName(name);
  if (!given.isDry) requireAskable(context, given);
  const { secrets, skipped } = await readValues(context, given);
  return changeSet(context, {
    ...given,
    skipped,
    question: ({ change }) =>
      change === 'created' ? `Create the secret set ${name}?` : `Change the secret set ${name}?`,
    submit: (client, { region, ...ask }) =>
      client.putSecrets({
        params: { setName: name },
        body: {
          secrets: [...secrets],
          mode: replaces ? 'replace' : 'merge',
          ...regionOf(region ?? given.region),
          ...ask,
        },
      }),
  });
}

function regionOf(region: string | undefined) {
  return region === undefined ? {} : { region };
}
