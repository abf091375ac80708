import type { CommandContext } from '../command-line/context.ts';
import type { CommandReport } from '../output/report.ts';
import { createSecretChangeTable } from './change-table.ts';
import { createNotFoundFailure } from './find-set.ts';
import { type FileFormat, readSecretValues } from './read-values.ts';
import { requireSecretSetName } from './set-name.ts';

/** Compares a local file with a secret set. Requests only a dry run of replacing the set, so the set does not change. */
export async function diffSecretSet(
  context: CommandContext,
  options: { readonly name: string; readonly file: string; readonly format: FileFormat },
): Promise<CommandReport> {
  const { name, file } = options;
  requireSecretSetName(name);
  const { secrets, skipped } = await readSecretValues(context, { ...options, pairs: [] });
  const client = await context.service();
  const answer = await client.putSecrets({
    params: { setName: name },
    body: { secrets: [...secrets], mode: 'replace', dryRun: true },
  });
  if (answer.previousRevision === null) throw createNotFoundFailure(name);
  const { changes, revision } = answer;
  const isSame = changes.every(({ change }) => change === 'unchanged');
  const source = file === '-' ? 'standard input' : file;
  const lines = [
    isSame ? `${source} matches revision ${revision} of ${name}.` : `Compared with revision ${revision} of ${name}.`,
    ...(skipped.length === 0 ? [] : [`Without a value in ${source}: ${skipped.join(', ')}`]),
  ];
  return {
    json: { name: answer.name, revision, same: isSame, changes, skipped },
    blocks: [
      createSecretChangeTable(changes, {
        new: 'only in the file',
        changed: 'differs',
        unchanged: 'same',
        removed: 'only in the set',
      }),
      { kind: 'note', lines },
    ],
  };
}
