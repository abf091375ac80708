import { formatBytes } from '@bothost/contract/format-bytes';
import { buildsPerPage } from '@bothost/contract/limits';
import { buildStatusLabels, listStatusValues } from '@bothost/contract/statuses';
import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, pageSizeOption, textOption } from '../../../command-line/options.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import { createNextPageNote, createTable } from '../../../output/table.ts';
import { formatBuildStatusCell } from '../../../records/build-status.ts';

/** Pipecat Cloud's command line shows 10 builds, although its API returns 20. */
const pageSize = { ...buildsPerPage, default: 10 };

export const command = defineCommand({
  summary: 'List the builds of the organization, newest first',
  details: 'Columns: build id, status, region, duration, archive size, content hash, created.',
  options: {
    limit: pageSizeOption(pageSize, 'Builds'),
    status: choiceOption(
      { description: 'Only builds with this status', short: 's' },
      listStatusValues(buildStatusLabels),
    ),
    region: textOption({ description: 'Only builds in this region', short: 'r', placeholder: 'REGION' }),
    cursor: textOption({ description: 'Show the next page: the cursor printed after a page', placeholder: 'CURSOR' }),
  },
  examples: ['cloud build list', 'cloud build list --status failed --json'],
  run: async ({ service }, { limit = pageSize.default, status, region, cursor }) => {
    const client = await service();
    const page = await client.listBuilds({ query: { limit, status, region, cursor } });
    const table = createTable(page.builds, 'No builds found.', [
      ['Build id', ({ id }) => id],
      ['Status', formatBuildStatusCell],
      ['Region', ({ region }) => region, { dropOrder: 3 }],
      [
        'Duration',
        ({ buildDurationSeconds: seconds }) =>
          seconds === null ? formatOptionalCell(null) : `${Math.round(seconds)}s`,
        { align: 'right', dropOrder: 4 },
      ],
      [
        'Archive',
        ({ contextSizeBytes: bytes }) => ({ text: String(bytes), rich: formatBytes(bytes) }),
        { align: 'right', dropOrder: 2 },
      ],
      ['Content', ({ contentHash }) => ({ text: contentHash, rich: contentHash.slice(0, 12) }), { dropOrder: 1 }],
      ['Created', ({ createdAt }) => formatTime(createdAt), { dropOrder: 5 }],
    ]);
    return { json: page, blocks: [table, ...createNextPageNote(page.nextCursor)] };
  },
});
