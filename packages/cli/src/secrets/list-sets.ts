import type { SecretSetListItem } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { formatOptionalCell, formatTime } from '../output/format.ts';
import type { Cell, CommandReport, CommandReportBlock } from '../output/report.ts';
import { createTable, type TableColumn } from '../output/table.ts';
import { formatReadinessCell } from './readiness.ts';
import { createExpiryWarning, formatExpiryCell, formatVerificationCell } from './verification.ts';

export async function listSecretSets(
  context: CommandContext,
  { region, onlySets }: { readonly region: string | undefined; readonly onlySets: boolean },
): Promise<CommandReport> {
  const client = await context.service();
  const { sets } = await client.listSecrets({ query: { region, type: onlySets ? 'secret' : undefined } });
  const now = context.io.now();
  const ending = sets.flatMap(({ name, expiresAt }) => createExpiryWarning(name, expiresAt, now) ?? []);
  const failed = sets.filter(({ errorMessage }) => errorMessage !== undefined);
  // The stored fields of a damaged set cannot be trusted, so only its name and status are shown.
  const known = (cell: (set: SecretSetListItem) => Cell) => (set: SecretSetListItem) =>
    set.damaged === true ? formatOptionalCell(null) : cell(set);
  const all = <T>(columns: readonly T[]) => (onlySets ? [] : columns);
  return {
    json: { sets },
    blocks: [
      createTable<SecretSetListItem>(
        sets,
        onlySets ? 'No secret sets found.' : 'No secret sets and no image pull secrets found.',
        [
          ['Name', ({ name }) => ({ text: name, tone: 'strong' })],
          ...all<TableColumn<SecretSetListItem>>([
            ['Kind', known(({ type }) => (type === 'secret' ? 'set' : 'pull secret'))],
          ]),
          ['Region', known(({ region: place }) => place), { dropOrder: 3 }],
          ['Status', ({ status }) => formatReadinessCell(status)],
          ['Revision', known(({ revision }) => String(revision)), { align: 'right', dropOrder: 4 }],
          [
            'Keys',
            known(({ type, keyCount }) => (type === 'secret' ? String(keyCount) : formatOptionalCell(null))),
            { align: 'right', dropOrder: 5 },
          ],
          ['Updated', known(({ updatedAt }) => formatTime(updatedAt)), { dropOrder: 2 }],
          ...all<TableColumn<SecretSetListItem>>([
            ['Registry', ({ host }) => formatOptionalCell(host)],
            ['Verification', ({ verification }) => formatVerificationCell(verification)],
            ['Expires', ({ expiresAt }) => formatExpiryCell(expiresAt, now)],
          ]),
        ],
      ),
      ...(failed.length === 0 ? [] : [failures(failed)]),
      ...(onlySets || ending.length === 0 ? [] : [{ kind: 'note', lines: ending } as const]),
    ],
  };
}

function failures(sets: readonly SecretSetListItem[]): CommandReportBlock {
  return { kind: 'note', lines: sets.map(({ name, errorMessage }) => `${name} failed: ${errorMessage}`) };
}
