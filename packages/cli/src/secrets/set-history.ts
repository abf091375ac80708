import type { SecretRevision } from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { formatTime } from '../output/format.ts';
import type { Cell, CommandReport } from '../output/report.ts';
import { createNextPageNote, createTable } from '../output/table.ts';
import { formatReadinessCell } from './readiness.ts';
import { requireSecretSetName } from './set-name.ts';

/** Lists the revisions of a secret set, newest first, with the API key that wrote each revision and the changed keys. */
export async function showSecretSetHistory(
  context: CommandContext,
  page: { readonly name: string; readonly limit: number; readonly before: number | undefined },
): Promise<CommandReport> {
  const { name, limit, before } = page;
  requireSecretSetName(name);
  const client = await context.service();
  const query = { limit, before };
  const [{ revisions, nextBefore }, { keys }] = await Promise.all([
    client.getSecretHistory({ params: { setName: name }, query }),
    client.listKeys(),
  ]);
  const findKeyName = (id: string | null) => keys.find((key) => key.id === id)?.name ?? null;
  const rows = revisions.map((one) => ({ ...one, createdByKeyName: findKeyName(one.createdByKeyId) }));
  const table = createTable(rows, 'No revisions found.', [
    [
      'Revision',
      ({ revision, current }) => (current ? { text: String(revision), tone: 'strong' } : String(revision)),
      { align: 'right' },
    ],
    [
      'Status',
      ({ status, current }) =>
        current ? formatReadinessCell(status) : { ...formatReadinessCell(status), tone: 'dim' },
    ],
    ['Created', ({ createdAt }) => formatTime(createdAt)],
    ['By key', (one) => one.createdByKeyName ?? one.createdByKeyId ?? '', { dropOrder: 1 }],
    ['Action', formatAction, { dropOrder: 2 }],
    ['Keys', changedKeysCell],
  ]);
  return { json: { revisions: rows, nextBefore }, blocks: [table, ...createNextPageNote(nextBefore, '--before')] };
}

function formatAction({ action, rolledBackTo }: SecretRevision): string {
  return rolledBackTo === null ? action : `${action} to ${rolledBackTo}`;
}

/** A terminal shows only four keys and the number of further keys. */
function changedKeysCell({ added, changed, removed }: SecretRevision): Cell {
  const all = [
    ...added.map((key) => `+${key}`),
    ...changed.map((key) => `~${key}`),
    ...removed.map((key) => `-${key}`),
  ];
  const shown = all.slice(0, 4).join(' ');
  const left = all.length - 4;
  return { text: all.join(' '), rich: left > 0 ? `${shown} and ${left} more` : shown };
}
