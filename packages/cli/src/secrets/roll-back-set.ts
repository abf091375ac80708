import type { Context } from '../command-line/context.ts';
import type { Report } from '../output/report.ts';
import { type ChangeOptions, changeSet } from './change-set.ts';
import { requireSetName } from './set-name.ts';

export type RollBackOptions = ChangeOptions & { readonly revision: number };

/** Creates a revision with the content of an earlier revision. */
export async function rollBackSet(context: Context, options: RollBackOptions): Promise<Report> {
  const { name, revision } = options;
  requireSetName(name);
  return changeSet(context, {
    ...options,
    skipped: [],
    question: () => `Roll ${name} back to revision ${revision}?`,
    submit: (client, { dryRun, expectedRevision }) =>
      client.rollBackSecrets({ params: { setName: name }, body: { revision, dryRun, expectedRevision } }),
  });
}
