import type { AuditEntry } from '@bothost/contract';
import { defineCommand } from '../../../command-line/command.ts';
import type { CommandReportItem } from '../../../output/report.ts';
import { auditOptions, toAuditQuery } from '../../../records/audit-filter.ts';

export const command = defineCommand({
  summary: 'Export the audit log as JSON lines, oldest entry first',
  details:
    'Prints a line for each entry in every output mode. Without filters, each line contains the hash of the ' +
    'line before, so the log can be verified without the service (docs/operations/vault-and-audit.md).',
  options: auditOptions,
  examples: ['cloud audit export > audit.jsonl', 'cloud audit export --since 30d --result secret-set-not-found'],
  run: async (context, filter) => {
    const client = await context.service();
    const query = toAuditQuery(context, filter);
    return {
      pieces: async function* (signal) {
        let next: string | null = null;
        do {
          const cursor: { cursor?: string } = next === null ? {} : { cursor: next };
          const page = await client.listAuditEntries(
            { query: { ...query, ...cursor, order: 'asc', limit: 1_000 } },
            signal,
          );
          yield* page.entries.map(piece);
          next = page.nextCursor;
        } while (next !== null);
      },
    };
  },
});

function piece(entry: AuditEntry): CommandReportItem {
  // Escape the control characters from U+007F on, because they can control a terminal. JSON.stringify escapes only control
  // characters below U+0020.
  const line = JSON.stringify(entry).replace(
    /[\u007f-\u009f]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return { json: entry, plain: line, rich: () => line };
}
