import { defineCommand } from '../../../command-line/command.ts';
import { Failure } from '../../../failure.ts';
import { createFields } from '../../../output/fields.ts';
import { formatOptionalCell } from '../../../output/format.ts';

export const command = defineCommand({
  summary: 'Verify that the audit log was not changed',
  details:
    'Exit status 1 if an entry was changed, removed or inserted. The log itself cannot show that its last ' +
    'entries were cut off: store the last number and its hash elsewhere, and compare.',
  examples: ['cloud audit verify', 'cloud audit verify --json'],
  run: async ({ service }) => {
    const client = await service();
    const verification = await client.verifyAudit();
    if (!verification.ok) {
      throw new Failure(
        'audit-broken',
        `Entry ${verification.brokenAt ?? ''} of the audit log is missing or was changed. The ${verification.entries} entries before it are intact.`,
        'Compare the log with an earlier export, and inform the operator of the service.',
        { details: verification },
      );
    }
    const fields = createFields([
      ['Verified', { text: 'ok', tone: 'good' }],
      ['Entries', String(verification.entries)],
      ['First', formatOptionalCell(verification.firstSequence)],
      ['Last', formatOptionalCell(verification.lastSequence)],
      ['Hash of the last', verification.lastHash],
      ['Removed by age up to', formatOptionalCell(verification.removedThrough)],
    ]);
    return { json: verification, blocks: [fields] };
  },
});
