import type { Build } from '@bothost/contract';
import { formatBytes } from '@bothost/contract/format-bytes';
import { buildStatusLabels, listStatusValues } from '@bothost/contract/statuses';
import { defineCommand } from '../../../command-line/command.ts';
import { choiceOption, integerOption, textOption } from '../../../command-line/options.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import { formatBuildStatusCell } from '../../../records/build-status.ts';

export const command = defineCommand({
  summary: 'List the builds of the organization, newest first',
  details: 'Columns: build id, status, region, duration, archive size, content hash, created.',
  arguments: {},
  options: {
    limit: integerOption({ description: 'Builds per page, 10 by default', short: 'n' }, 1, 100),
    status: choiceOption(
      { description: 'Only builds with this status', short: 's' },
      listStatusValues(buildStatusLabels),
    ),
    region: textOption({ description: 'Only builds in this region', short: 'r', placeholder: 'REGION' }),
    cursor: textOption({ description: 'Show the next page: the cursor printed after a page', placeholder: 'CURSOR' }),
  },
  examples: ['cloud build list', 'cloud build list --status failed --json'],
  run: async ({ service }, { limit = 10, status, region, cursor }) => {
    const client = await service();
    const page = await client.listBuilds({
      query: {
        limit,
        ...(status === undefined ? {} : { status }),
        ...(region === undefined ? {} : { region }),
        ...(cursor === undefined ? {} : { cursor }),
      },
    });
    const more = page.nextCursor === null ? [] : [`Next page: --cursor ${page.nextCursor}`];
    return {
      json: page,
      blocks: [
        {
          kind: 'table',
          columns: [
            { title: 'Build id' },
            { title: 'Status' },
            { title: 'Region', dropOrder: 3 },
            { title: 'Duration', align: 'right', dropOrder: 4 },
            { title: 'Archive', align: 'right', dropOrder: 2 },
            { title: 'Content', dropOrder: 1 },
            { title: 'Created', dropOrder: 5 },
          ],
          rows: page.builds.map(row),
          empty: 'No builds found.',
        },
        ...(more.length === 0 ? [] : [{ kind: 'note', lines: more } as const]),
      ],
    };
  },
});

function row(build: Build) {
  return [
    build.id,
    formatBuildStatusCell(build),
    build.region,
    build.buildDurationSeconds === null ? formatOptionalCell(null) : `${Math.round(build.buildDurationSeconds)}s`,
    { text: String(build.contextSizeBytes), rich: formatBytes(build.contextSizeBytes) },
    { text: build.contentHash, rich: build.contentHash.slice(0, 12) },
    formatTime(build.createdAt),
  ];
}
