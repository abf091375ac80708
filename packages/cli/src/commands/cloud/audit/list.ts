import type { AuditEntry } from '@bothost/contract';
import { defineCommand } from '../../../command-line/command.ts';
import { integerOption, textOption } from '../../../command-line/options.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import type { Cell } from '../../../output/report.ts';
import { auditOptions, formatAuditActor, toAuditQuery } from '../../../records/audit-filter.ts';

export const command = defineCommand({
  summary: 'List who changed what, and who was refused, newest entry first',
  details:
    'Columns: entry number, time, actor, address, action, object, keys, revisions before and after, result, ' +
    'number of requests. The log contains no values of secrets.',
  arguments: {},
  options: {
    ...auditOptions,
    limit: integerOption({ description: 'Entries per page, 50 by default', short: 'n' }, 1, 1_000),
    cursor: textOption({ description: 'Show the next page: the cursor printed after a page', placeholder: 'CURSOR' }),
  },
  examples: ['cloud audit list --since 7d', 'cloud audit list --object voice --action secrets.set --json'],
  run: async (context, { limit = 50, cursor, ...filter }) => {
    const client = await context.service();
    const page = await client.listAuditEntries({
      query: { ...toAuditQuery(context, filter), limit, ...(cursor === undefined ? {} : { cursor }) },
    });
    return {
      json: page,
      blocks: [
        {
          kind: 'table',
          columns: [
            { title: 'No.', align: 'right' },
            { title: 'Time' },
            { title: 'Who' },
            { title: 'From', dropOrder: 1 },
            { title: 'Action' },
            { title: 'Object' },
            { title: 'Keys', dropOrder: 2 },
            { title: 'Revision', dropOrder: 3 },
            { title: 'Result' },
            { title: 'Requests', align: 'right', dropOrder: 4 },
          ],
          rows: page.entries.map(row),
          empty: 'No entries found.',
        },
        ...(page.nextCursor === null
          ? []
          : [{ kind: 'note', lines: [`Next page: --cursor ${page.nextCursor}`] } as const]),
      ],
    };
  },
});

function row(entry: AuditEntry): Cell[] {
  return [
    String(entry.sequence),
    formatTime(entry.at),
    { text: entry.userEmail ?? entry.keyId ?? '', rich: formatAuditActor(entry) },
    formatOptionalCell(entry.address),
    entry.action,
    formatOptionalCell(entry.object),
    formatOptionalCell(entry.keys.join(', ')),
    revisions(entry),
    { text: entry.result, tone: resultTone(entry.result) },
    String(entry.count),
  ];
}

function revisions({ revisionBefore, revisionAfter }: AuditEntry): Cell {
  if (revisionBefore === null) return formatOptionalCell(null);
  return revisionBefore === revisionAfter ? String(revisionBefore) : `${revisionBefore} > ${revisionAfter ?? 'none'}`;
}

function resultTone(result: string): 'good' | 'dim' | 'bad' {
  if (result === 'done' || result === 'started') return 'good';
  return result === 'unchanged' || result === 'dry-run' ? 'dim' : 'bad';
}
