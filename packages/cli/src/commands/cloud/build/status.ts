import type { Build } from '@bothost/contract';
import { command as define } from '../../../command-line/command.ts';
import { formatBytes, formatTime, optionalCell } from '../../../output/format.ts';
import type { Block, Cell } from '../../../output/report.ts';
import { buildStatus } from '../../../records/build-status.ts';

export const command = define({
  summary: 'Show a build and, if it failed, its error',
  arguments: { id: { description: 'Id of the build' } },
  options: {},
  examples: ['cloud build status 0192f0c1-2345-7000-8000-00000000abcd'],
  run: async ({ service, io }, { id }) => {
    const client = await service();
    const { build } = await client.getBuild({ params: { buildId: id } });
    const { program } = io.environment;
    const [why = null, ...output] = build.errorMessage?.trimEnd().split('\n') ?? [];
    const lastWords: readonly Block[] =
      output.length === 0 ? [] : [{ kind: 'text', title: 'Last output', lines: output }];
    return {
      json: build,
      blocks: [
        { kind: 'fields', fields: facts(build, why) },
        ...lastWords,
        { kind: 'fields', title: 'Next', fields: [next(build, program)] },
      ],
    };
  },
});

function facts(build: Build, why: string | null): readonly (readonly [string, Cell])[] {
  const seconds = build.buildDurationSeconds;
  return [
    ['Build', { text: build.id, tone: 'strong' }],
    ['Status', buildStatus(build)],
    ...(why === null ? [] : [['Error', { text: why, tone: 'bad' }] as const]),
    ...(build.errorCode === null ? [] : [['Error code', build.errorCode] as const]),
    ['Region', build.region],
    ['Archive', { text: String(build.contextSizeBytes), rich: formatBytes(build.contextSizeBytes) }],
    ['Content hash', build.contentHash],
    ['Created', formatTime(build.createdAt)],
    ['Started', formatTime(build.startedAt)],
    ['Completed', formatTime(build.completedAt)],
    ['Duration', seconds === null ? optionalCell(null) : `${seconds.toFixed(1)}s`],
  ];
}

function next(build: Build, program: string): readonly [string, Cell] {
  if (build.status === 'success') return ['Deploy it', `${program} cloud deploy NAME --build-id ${build.id}`];
  if (build.status === 'canceled') return ['Build it again', `${program} cloud deploy NAME`];
  if (build.status === 'pending' || build.status === 'building') {
    return ['Follow it', `${program} cloud build logs ${build.id} --follow`];
  }
  return ['Read its log', `${program} cloud build logs ${build.id}`];
}
