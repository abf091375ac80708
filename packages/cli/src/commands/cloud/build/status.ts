import type { Build } from '@bothost/contract';
import { formatBytes } from '@bothost/contract/format-bytes';
import { defineCommand } from '../../../command-line/command.ts';
import { formatOptionalCell, formatTime } from '../../../output/format.ts';
import type { Cell, CommandReportBlock } from '../../../output/report.ts';
import { formatBuildStatusCell } from '../../../records/build-status.ts';

export const command = defineCommand({
  summary: 'Show a build and, if it failed, its error',
  arguments: { id: { description: 'Id of the build' } },
  examples: ['cloud build status 0192f0c1-2345-7000-8000-00000000abcd'],
  run: async ({ service }, { id }) => {
    const client = await service();
    const { build } = await client.getBuild({ params: { buildId: id } });
    const [reason = null, ...output] = build.errorMessage?.trimEnd().split('\n') ?? [];
    const lastOutput: readonly CommandReportBlock[] =
      output.length === 0 ? [] : [{ kind: 'text', title: 'Last output', lines: output }];
    return {
      json: build,
      blocks: [
        { kind: 'fields', fields: summaryFields(build, reason) },
        ...lastOutput,
        { kind: 'fields', title: 'Next', fields: [nextStep(build)] },
      ],
    };
  },
});

function summaryFields(build: Build, reason: string | null): readonly (readonly [string, Cell])[] {
  const seconds = build.buildDurationSeconds;
  return [
    ['Build', { text: build.id, tone: 'strong' }],
    ['Status', formatBuildStatusCell(build)],
    ...(reason === null ? [] : [['Error', { text: reason, tone: 'bad' }] as const]),
    ...(build.errorCode === null ? [] : [['Error code', build.errorCode] as const]),
    ['Region', build.region],
    ['Archive', { text: String(build.contextSizeBytes), rich: formatBytes(build.contextSizeBytes) }],
    ['Content hash', build.contentHash],
    ['Created', formatTime(build.createdAt)],
    ['Started', formatTime(build.startedAt)],
    ['Completed', formatTime(build.completedAt)],
    ['Duration', seconds === null ? formatOptionalCell(null) : `${seconds.toFixed(1)}s`],
  ];
}

function nextStep(build: Build): readonly [string, Cell] {
  if (build.status === 'success') return ['Deploy it', `botcli cloud deploy NAME --build-id ${build.id}`];
  if (build.status === 'canceled') return ['Build it again', `botcli cloud deploy NAME`];
  if (build.status === 'pending' || build.status === 'building') {
    return ['Follow it', `botcli cloud build logs ${build.id} --follow`];
  }
  return ['Read its log', `botcli cloud build logs ${build.id}`];
}
