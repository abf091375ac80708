import type { CommandContext } from '../command-line/context.ts';
import type { CommandReport } from '../output/report.ts';
import { changeSecretSet, type SecretSetChangeOptions } from './change-set.ts';
import { requireSecretSetName } from './set-name.ts';

export type RollBackOptions = SecretSetChangeOptions & { readonly revision: number };

/** Creates a revision with the content of an earlier revision. */
export async function rollBackSecretSet(context: CommandContext, options: RollBackOptions): Promise<CommandReport> {
  const { name, revision } = options;
  requireSecretSetName(name);
  return changeSecretSet(context, {
    ...options,
    skipped: [],
    question: () => `Roll ${name} back to revision ${revision}?`,
    submit: (client, { dryRun, expectedRevision }) =>
      client.rollBackSecrets({ params: { setName: name }, body: { revision, dryRun, expectedRevision } }),
  });
}
