import type { VaultStatus, VaultTask } from '@bothost/contract';
import { getStatusLabel, vaultTaskStateLabels } from '@bothost/contract/statuses';
import { Failure } from '../failure.ts';
import { formatTime } from '../output/format.ts';
import type { CommandReport, CommandReportBlock } from '../output/report.ts';

export function createVaultReport(status: VaultStatus): CommandReport {
  return { json: status, blocks: blocksOf(status) };
}

function blocksOf(status: VaultStatus): readonly CommandReportBlock[] {
  const { behind } = status;
  return [
    {
      kind: 'table',
      columns: [{ title: 'Root key' }, { title: 'State' }, { title: 'Wraps', align: 'right' }],
      rows: status.rootKeys.map(({ id, current, atHand, wraps }) => [
        id,
        current
          ? { text: 'current', tone: 'good' }
          : wraps > 0 && !atHand
            ? { text: 'missing', tone: 'bad' }
            : { text: wraps > 0 ? 'former, needed' : 'former, not needed', tone: wraps > 0 ? 'warn' : 'dim' },
        String(wraps),
      ]),
      empty: 'No root keys found.',
    },
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
    {
      kind: 'table',
      columns: [
        { title: 'Task' },
        { title: 'State' },
        { title: 'Done', align: 'right' },
        { title: 'Findings', align: 'right' },
        { title: 'Started', dropOrder: 2 },
        { title: 'Ended', dropOrder: 1 },
      ],
      rows: status.tasks.map((task) => [
        task.task,
        {
          text: task.state,
          rich: getStatusLabel(vaultTaskStateLabels, task.state),
          tone: task.state === 'done' ? 'good' : 'warn',
        },
        `${task.done}/${task.total}`,
        task.findings.length === 0 ? '0' : { text: String(task.findings.length), tone: 'bad' },
        formatTime(task.startedAt),
        formatTime(task.endedAt),
      ]),
      empty: 'No tasks found.',
    },
    ...findings(status.tasks),
  ];
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
