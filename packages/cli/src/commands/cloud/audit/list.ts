import type { AuditEntry } from '@bothost/contract';
import { auditEntriesPerPage } from '@bothost/contract/limits';
import { defineCommand } from '../../../command-line/command.ts';
import { pageSizeOption, textOption } from '../../../command-line/options.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import type { Cell } from '../../../output/report.ts';
import { createNextPageNote, createTable } from '../../../output/table.ts';
import { auditOptions, formatAuditActor, toAuditQuery } from '../../../records/audit-filter.ts';

export const command = defineCommand({
  summary: 'List who changed what, and who was refused, newest entry first',
  details:
    'Columns: entry number, time, actor, address, action, object, keys, revisions before and after, result, ' +
    'number of requests. The log contains no values of secrets.',
  options: {
    ...auditOptions,
    limit: pageSizeOption(auditEntriesPerPage, 'Entries'),
    cursor: textOption({ description: 'Show the next page: the cursor printed after a page', placeholder: 'CURSOR' }),
  },
  examples: ['cloud audit list --since 7d', 'cloud audit list --object voice --action secrets.set --json'],
  run: async (context, { limit = auditEntriesPerPage.default, cursor, ...filter }) => {
    const client = await context.service();
    const page = await client.listAuditEntries({ query: { ...toAuditQuery(context, filter), limit, cursor } });
    const table = createTable(page.entries, 'No entries found.', [
      ['No.', ({ sequence }) => String(sequence), { align: 'right' }],
      ['Time', ({ at }) => formatTime(at)],
      ['Who', (entry) => ({ text: entry.userEmail ?? entry.keyId ?? '', rich: formatAuditActor(entry) })],
      ['From', ({ address }) => formatOptionalCell(address), { dropOrder: 1 }],
      ['Action', ({ action }) => action],
      ['Object', ({ object }) => formatOptionalCell(object)],
      ['Keys', ({ keys }) => formatOptionalCell(keys.join(', ')), { dropOrder: 2 }],
      ['Revision', revisions, { dropOrder: 3 }],
      ['Result', ({ result }) => ({ text: result, tone: resultTone(result) })],
      ['Requests', ({ count }) => String(count), { align: 'right', dropOrder: 4 }],
    ]);
    return { json: page, blocks: [table, ...createNextPageNote(page.nextCursor)] };
  },
});

function revisions({ revisionBefore, revisionAfter }: AuditEntry): Cell {
  if (revisionBefore === null) return formatOptionalCell(null);
  return revisionBefore === revisionAfter ? String(revisionBefore) : `${revisionBefore} > ${revisionAfter ?? 'none'}`;
}

function resultTone(result: string): 'good' | 'dim' | 'bad' {
  if (result === 'done' || result === 'started') return 'good';
  return result === 'unchanged' || result === 'dry-run' ? 'dim' : 'bad';
}
