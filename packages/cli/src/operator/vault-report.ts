import type { VaultStatus, VaultTask } from '@bothost/contract';
import { getStatusLabel, vaultTaskStateLabels } from '@bothost/contract/statuses';
import { Failure } from '../failure.ts';
import { formatTime } from '../output/format.ts';
import type { Cell, CommandReport, CommandReportBlock } from '../output/report.ts';
import { createTable } from '../output/table.ts';

export function createVaultReport(status: VaultStatus): CommandReport {
  return { json: status, blocks: blocksOf(status) };
}

function blocksOf(status: VaultStatus): readonly CommandReportBlock[] {
  const { behind } = status;
  return [
    createTable(status.rootKeys, 'No root keys found.', [
      ['Root key', ({ id }) => id],
      ['State', formatRootKeyStateCell],
      ['Wraps', ({ wraps }) => String(wraps), { align: 'right' }],
    ]),
    {
      kind: 'fields',
      title: 'Stored',
      fields: [
        ['Organizations', String(status.organizations)],
        ['Sets', String(status.sets)],
        ['Values', String(status.values)],
        ['Behind', `${behind.keys} keys, ${behind.sets} sets`],
      ],
    },
    createTable(status.tasks, 'No tasks found.', [
      ['Task', ({ task }) => task],
      [
        'State',
        ({ state }) => ({
          text: state,
          rich: getStatusLabel(vaultTaskStateLabels, state),
          tone: state === 'done' ? 'good' : 'warn',
        }),
      ],
      ['Done', ({ done, total }) => `${done}/${total}`, { align: 'right' }],
      [
        'Findings',
        ({ findings: { length } }) => (length === 0 ? '0' : { text: String(length), tone: 'bad' }),
        { align: 'right' },
      ],
      ['Started', ({ startedAt }) => formatTime(startedAt), { dropOrder: 2 }],
      ['Ended', ({ endedAt }) => formatTime(endedAt), { dropOrder: 1 }],
    ]),
    ...findings(status.tasks),
  ];
}

function formatRootKeyStateCell({ current, atHand, wraps }: VaultStatus['rootKeys'][number]): Cell {
  if (current) return { text: 'current', tone: 'good' };
  if (wraps > 0) return atHand ? { text: 'former, needed', tone: 'warn' } : { text: 'missing', tone: 'bad' };
  return { text: 'former, not needed', tone: 'dim' };
}

function findings(tasks: readonly VaultTask[]): readonly CommandReportBlock[] {
  const lines = tasks.flatMap((task) =>
    task.findings.map((one) => `${task.task}: ${findingPath(one)}: ${one.problem}`),
  );
  return lines.length === 0 ? [] : [{ kind: 'text', title: 'Findings', lines }];
}

function findingPath({ organization, set }: VaultTask['findings'][number]): string {
  return set === null ? organization || 'the vault' : `${organization}/${set}`;
}

/** Throws a `Failure` if the last vault task of the given kind, such as `verify`, found damaged keys or secrets. */
export function requireNoVaultFindings(status: VaultStatus, kind: VaultTask['task']): void {
  const damage = status.tasks.find(({ task }) => task === kind)?.findings ?? [];
  if (damage.length === 0) return;
  const issues = damage.map((one) => ({ path: findingPath(one), message: one.problem }));
  const message =
    damage.length === 1 ? 'One item in the vault is damaged.' : `${damage.length} items in the vault are damaged.`;
  const hint =
    'Agents with damaged sets cannot start; all others are unaffected. Restore the sets from a backup, or delete and set them again.';
  throw new Failure('vault-damaged', message, hint, { issues, details: { vault: status } });
}
